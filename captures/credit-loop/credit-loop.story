# Figure 2 of the switch-to-switch fat-tree paper on the tables of minhop: four flows, two of them of switches, each of
# which needs the buffer that the next one fills. Switches send as hosts do, and a buffer has room for one packet.
switch-limit 97
buffer 2100
0s flow node0 leaf1
0s flow mid0 mid3
0s flow node2 node1
# Three of them are congestion. The fourth closes the circle.
40s flow mid1 mid0
# Other tables do not move what is stuck.
71s route sftree
# Pulling a cable of the circle throws away what waits for it, and then everything moves: sftree has no circle.
91s down leaf0/3
92s up leaf0/3
