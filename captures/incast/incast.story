# node0 takes in what storage takes in: everybody wants to write to it. Hosts send and take in 100 Gb/s at the most.
host-limit 100
# Talk of a fabric that is well.
0s flow node1 node13 gbps=5
0s flow node4 node16 gbps=5
0s flow node7 node21 gbps=5
0s flow node14 node2 gbps=5
0s flow node22 node9 gbps=5
# The bystander: it wants nothing of node0, but its packets leave by the same cable of leaf3.
0s flow node19 node12 gbps=60
# The writers.
20s flow node18 node0 gbps=40
25s flow node20 node0 gbps=40
30s flow node6 node0 gbps=40
35s flow node8 node0 gbps=40
40s flow node10 node0 gbps=40
45s flow node13 node0 gbps=40
50s flow node15 node0 gbps=40
55s flow node17 node0 gbps=40
60s flow node7 node0 gbps=40
65s flow node9 node0 gbps=40
70s flow node14 node0 gbps=40
75s flow node16 node0 gbps=40
