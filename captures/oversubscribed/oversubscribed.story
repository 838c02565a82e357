# Experiment IV of the dFtree paper, with its hosts 1 to 12 as node0 to node11: hosts send 12.9 Gb/s, cables carry 32.
host-limit 12.9
# The victim: node8 is not its business, but two cables on its way are those of the contributors.
0s flow node1 node10
# The contributors begin one after the other.
30s flow node0 node8
45s flow node4 node8
60s flow node9 node8
# And one of them ends.
100s stop node9 node8
