//! The style sheet of a report: light and dark by the setting of the reader, light on paper, one column on a phone.

pub const STYLE: &str = r#"
:root{color-scheme:light dark;--paper:#fff;--card:#f7f9fb;--text:#24292f;--strong:#000;--dim:#57606a;--faint:#818b96;
--rule:#d3d9e0;--grid:#e7ebf0;--accent:#0550ae;--ok:#116329;--warn:#7a5300;--crit:#b31d28;--warn-soft:#fbf3dd;
--crit-soft:#fdecec;--ok-soft:#e6f4ea;--load0:#b6bec7;--load1:#9cc9de;--load2:#549ebf;--load3:#0a6c94;--load4:#06415a;
--wait0:#b6bec7;--wait1:#e9c46a;--wait2:#c98a16;--wait3:#b95c00;--wait4:#b3201d;--err0:#b6bec7;--err1:#e8a3c8;
--err2:#cf5a9c;--err3:#a8186d;--err4:#6d0d45}
@media screen and (prefers-color-scheme:dark){:root{--paper:#0d1117;--card:#151b23;--text:#c9d1d9;--strong:#f0f4f8;
--dim:#9aa4af;--faint:#6b7580;--rule:#303944;--grid:#212932;--accent:#6cb6ff;--ok:#57c785;--warn:#f2cc60;--crit:#ff6b6b;
--warn-soft:#2a2413;--crit-soft:#2f181b;--ok-soft:#12261a;--load0:#36404b;--load1:#2a6484;--load2:#2f8ab3;--load3:#3fb8e0;
--load4:#a5e3f7;--wait0:#36404b;--wait1:#8f6f22;--wait2:#dba52f;--wait3:#ff8f3d;--wait4:#ff5f4d;--err0:#36404b;
--err1:#86406a;--err2:#c35494;--err3:#ff71b5;--err4:#ffc2de}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
main,header,footer{max-width:74rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1,h2,h3,p,dl,dd,figure,ul,ol{margin:0;padding:0}
h1{font-size:1.75rem;line-height:1.2;color:var(--strong);letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:1.15rem;color:var(--strong);margin:2.5rem 0 .75rem;display:flex;gap:.75rem;align-items:baseline;flex-wrap:wrap}
h2 span{font-size:.85rem;font-weight:400;color:var(--dim)}
h3{font-size:1rem;line-height:1.4;color:var(--strong);overflow-wrap:anywhere}
.kicker{color:var(--dim);font-size:.8rem;letter-spacing:.08em;text-transform:uppercase;margin-bottom:.25rem}
.dim{color:var(--dim)}.crit{color:var(--crit)}.warn{color:var(--warn)}.ok{color:var(--ok)}
.verdict{margin-top:1rem;padding:.85rem 1rem;border-radius:.6rem;font-size:1.05rem;font-weight:600;background:var(--ok-soft);
border-left:.3rem solid currentColor;overflow-wrap:anywhere}
.verdict.crit{background:var(--crit-soft)}.verdict.warn{background:var(--warn-soft)}
.verdict small{display:block;font-size:.9rem;font-weight:400;color:var(--text)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin-top:1rem}
.tile{border:1px solid var(--rule);border-radius:.6rem;padding:.65rem .85rem;min-width:0}
.tile dt{font-size:.8rem;color:var(--dim)}
.tile dd{font-size:1.35rem;font-weight:600;color:var(--strong);line-height:1.3}
.tile dd.unknown{font-size:1rem;font-weight:400;color:var(--dim);line-height:1.75}
.tile dd small{display:block;font-size:.8rem;font-weight:400;color:var(--dim)}
.card{border:1px solid var(--rule);border-left:.3rem solid var(--faint);border-radius:.6rem;padding:.85rem 1rem;margin-top:.75rem;
background:var(--card);break-inside:avoid}
.card.crit{border-left-color:var(--crit);color:inherit}.card.warn{border-left-color:var(--warn);color:inherit}
.card .sign{font-size:.8rem;font-weight:600;margin-right:.6rem;white-space:nowrap}
.card dl{display:grid;grid-template-columns:7rem minmax(0,1fr);gap:.3rem .75rem;margin-top:.6rem}
.card dt{color:var(--dim);font-size:.85rem;padding-top:.05rem}
.card dd{overflow-wrap:anywhere}
.sure{font-size:.75rem;border:1px solid var(--rule);border-radius:1rem;padding:.05rem .5rem;margin-right:.5rem;color:var(--dim);
white-space:nowrap}
.chip{display:inline-block;max-width:100%;border:1px solid var(--rule);border-radius:.35rem;padding:0 .4rem;margin:.1rem .25rem .1rem 0;
font-size:.85rem;background:var(--paper);overflow-wrap:anywhere}
.chip b{color:var(--wait3);font-weight:600}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;background:var(--grid);border-radius:.3rem;
padding:.1rem .4rem;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:1rem}
.chart{border:1px solid var(--rule);border-radius:.6rem;padding:.75rem .85rem;min-width:0;break-inside:avoid}
.chart figcaption{display:flex;gap:.6rem;align-items:baseline;flex-wrap:wrap;margin-bottom:.4rem}
.chart figcaption b{color:var(--strong)}.chart figcaption .now{font-weight:600}
.load .now{color:var(--load3)}.wait .now{color:var(--wait3)}.err .now{color:var(--err3)}
.plot{display:grid;grid-template-columns:2.6rem minmax(0,1fr)}
.scale{display:flex;flex-direction:column;justify-content:space-between;font-size:.75rem;color:var(--dim);text-align:right;
padding-right:.4rem;line-height:1;height:9rem;margin:-.35rem 0}
.area{position:relative;height:8.3rem}
.area svg{display:block;width:100%;height:100%}
.area p{position:absolute;inset:0;display:flex;align-items:center;justify-content:center;text-align:center;color:var(--dim);
font-size:.85rem;padding:0 1rem}
.times{display:flex;justify-content:space-between;font-size:.75rem;color:var(--dim);margin:.45rem 0 0 2.6rem}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1rem;font-size:.8rem;color:var(--dim);margin-top:.6rem}
.legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:.15rem;margin-right:.35rem;vertical-align:-.1rem}
.grid{stroke:var(--grid);stroke-width:1}.base{stroke:var(--rule);stroke-width:1}
.curve{fill:none;stroke:var(--strong);stroke-width:1.5;stroke-linejoin:round}
.edge{fill:none;stroke-width:1.5}.load .edge{stroke:var(--load3)}.wait .edge{stroke:var(--wait3)}.err .edge{stroke:var(--err3)}
.mark{stroke-width:1;stroke-dasharray:3 3;stroke:var(--faint)}.mark.crit{stroke:var(--crit)}.mark.warn{stroke:var(--warn)}
.load .s1{stop-color:var(--load1)}.load .s2{stop-color:var(--load2)}.load .s3{stop-color:var(--load3)}.load .s4{stop-color:var(--load4)}
.wait .s1{stop-color:var(--wait1)}.wait .s2{stop-color:var(--wait2)}.wait .s3{stop-color:var(--wait3)}.wait .s4{stop-color:var(--wait4)}
.err .s1{stop-color:var(--err1)}.err .s2{stop-color:var(--err2)}.err .s3{stop-color:var(--err3)}.err .s4{stop-color:var(--err4)}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:.6rem;padding:.5rem}
.map svg{display:block;margin:0 auto;width:100%;height:auto}
.map text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:var(--text);text-anchor:middle}
.map .small{font-size:11px;fill:var(--dim)}.map .left{text-anchor:start}.map .right{text-anchor:end}
.map .flag{font-weight:600;fill:var(--warn);stroke:var(--paper);stroke-width:4;paint-order:stroke}
.map .flag.crit{fill:var(--crit)}
.box{fill:var(--card);stroke:var(--rule);stroke-width:1.5}
.cable{fill:none;stroke-width:1.4;stroke:var(--faint)}.cable.down{stroke:var(--crit);stroke-dasharray:5 4}
.host{stroke:none;fill:none}.unknown.host{fill:none;stroke:var(--faint)}
.wait .cable.q0{stroke:var(--wait0)}.wait .cable.q1{stroke:var(--wait1);stroke-width:1.8}.wait .cable.q2{stroke:var(--wait2);stroke-width:2.2}
.wait .cable.q3{stroke:var(--wait3);stroke-width:2.6}.wait .cable.q4{stroke:var(--wait4);stroke-width:3}
.load .cable.q0{stroke:var(--load0)}.load .cable.q1{stroke:var(--load1);stroke-width:1.8}.load .cable.q2{stroke:var(--load2);stroke-width:2.2}
.load .cable.q3{stroke:var(--load3);stroke-width:2.6}.load .cable.q4{stroke:var(--load4);stroke-width:3}
.wait .box.q1,.wait .host.q1,.wait .cell.q1{stroke:var(--wait1)}.wait .box.q2{stroke:var(--wait2)}.wait .box.q3{stroke:var(--wait3)}
.wait .box.q4{stroke:var(--wait4);stroke-width:2.5}
.load .box.q1{stroke:var(--load1)}.load .box.q2{stroke:var(--load2)}.load .box.q3{stroke:var(--load3)}.load .box.q4{stroke:var(--load4)}
.wait .q0.host,.wait .q0.cell,.wait i.q0{fill:var(--wait0);background:var(--wait0)}
.wait .q1.host,.wait .q1.cell,.wait i.q1{fill:var(--wait1);background:var(--wait1)}
.wait .q2.host,.wait .q2.cell,.wait i.q2{fill:var(--wait2);background:var(--wait2)}
.wait .q3.host,.wait .q3.cell,.wait i.q3{fill:var(--wait3);background:var(--wait3)}
.wait .q4.host,.wait .q4.cell,.wait i.q4{fill:var(--wait4);background:var(--wait4)}
.load .q0.host,.load .q0.cell,.load i.q0{fill:var(--load0);background:var(--load0)}
.load .q1.host,.load .q1.cell,.load i.q1{fill:var(--load1);background:var(--load1)}
.load .q2.host,.load .q2.cell,.load i.q2{fill:var(--load2);background:var(--load2)}
.load .q3.host,.load .q3.cell,.load i.q3{fill:var(--load3);background:var(--load3)}
.load .q4.host,.load .q4.cell,.load i.q4{fill:var(--load4);background:var(--load4)}
.cell.unknown{fill:none;stroke:var(--grid)}
.map .figure{font-size:11px;fill:var(--text)}.map .figure.q2,.map .figure.q3,.map .figure.q4{fill:var(--paper);font-weight:600}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 1.5rem}
.columns>section{min-width:0}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th{font-size:.75rem;font-weight:600;color:var(--dim);text-align:left;letter-spacing:.03em}
th,td{padding:.35rem .5rem .35rem 0;border-bottom:1px solid var(--grid);vertical-align:top;overflow-wrap:anywhere}
.num{text-align:right;white-space:nowrap}td.time{white-space:nowrap;color:var(--dim);width:1%;padding-right:1rem}
.bar{display:inline-block;width:4rem;height:.5rem;border-radius:.25rem;background:var(--grid);overflow:hidden;vertical-align:.08rem;
margin-right:.5rem}
.bar i{display:block;height:100%}.bar.wait i{background:var(--wait3)}.bar.load i{background:var(--load2)}
.facts{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:.25rem 1rem;font-size:.9rem}
.facts dt{color:var(--dim)}.facts dd{overflow-wrap:anywhere}
.sideways{display:none;color:var(--dim);font-size:.85rem;margin-bottom:.4rem}
footer{margin:3rem auto 2rem;padding-top:1rem;color:var(--dim);font-size:.85rem;border-top:1px solid var(--rule)}
@media (max-width:40rem){main,header,footer{padding-left:.9rem;padding-right:.9rem}header{padding-top:1.25rem}h1{font-size:1.4rem}
.tiles{grid-template-columns:1fr 1fr}.card dl,.facts{grid-template-columns:1fr;gap:0}.card dd,.facts dd{margin-bottom:.4rem}
.bar{display:none}.sideways{display:block}
.stack,.stack tbody{display:block}.stack thead{display:none}
.stack tr{display:block;border:1px solid var(--rule);border-radius:.6rem;padding:.5rem .75rem;margin-bottom:.6rem}
.stack td,.stack td.num{display:flex;gap:1rem;justify-content:space-between;border:0;padding:.1rem 0;text-align:right;white-space:normal}
.stack td:first-child{display:block;text-align:left;font-weight:600;color:var(--strong)}
.stack td[data-label]::before{content:attr(data-label);color:var(--dim);font-weight:400;text-align:left;white-space:nowrap}}
@media print{body{font-size:11px}main,header,footer{max-width:none;padding:0}.scroll{overflow:visible}h2{break-after:avoid}
tr{break-inside:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"#;
