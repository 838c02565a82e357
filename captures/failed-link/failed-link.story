# Experiment II of the dFtree paper, with its hosts 1 to 6 as node0 to node5: hosts send 12.9 Gb/s.
host-limit 12.9
# The contributors: they fill the cable of node4, and the first cable of leaf0.
0s flow node0 node4
0s flow node3 node4
0s flow node5 node4
# The victim is alone on the second cable of leaf0.
0s flow node1 node3
# That cable fails, and the subnet manager moves the victim to the first.
62s down leaf0/4
63s route
