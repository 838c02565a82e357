# node7 hangs: its link stays up, for the adapter needs nobody for that, but nobody answers for it any more.
0s flow node7 node2 gbps=40
0s flow node3 node7 gbps=10
0s flow node1 node10 gbps=20
0s flow node8 node4 gbps=20
45s silent node7
45s stop node7 node2
50s stop node3 node7
# Somebody presses the button.
95s answers node7
100s flow node7 node2 gbps=40
