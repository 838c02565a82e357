# A cable of leaf1 that is wearing out: symbol errors first, then it goes down and comes back, again and again. Each time
# the subnet manager routes around it, and back.
0s flow node0 node5 gbps=20
0s flow node4 node9 gbps=20
0s flow node5 node12 gbps=20
0s flow node6 node2 gbps=20
0s flow node13 node7 gbps=20
0s flow node10 node3 gbps=20
20s errors leaf1/5 300
40s errors leaf1/5 6000
61s down leaf1/5
61s errors leaf1/5 0
62s route
63s up leaf1/5
63s errors leaf1/5 12000
64s route
77s down leaf1/5
77s errors leaf1/5 0
78s route
79s up leaf1/5
79s errors leaf1/5 12000
80s route
91s down leaf1/5
91s errors leaf1/5 0
92s route
98s up leaf1/5
98s errors leaf1/5 12000
99s route
112s down leaf1/5
112s errors leaf1/5 0
113s route
114s up leaf1/5
114s errors leaf1/5 12000
115s route
127s down leaf1/5
127s errors leaf1/5 0
128s route
128s up leaf1/5
128s errors leaf1/5 12000
129s route
141s down leaf1/5
141s errors leaf1/5 0
142s route
148s up leaf1/5
148s errors leaf1/5 12000
149s route
