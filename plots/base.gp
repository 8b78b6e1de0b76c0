# The style of all charts, copied into every script that mw.plot writes.
# Colours: M. Okabe and K. Ito, "Color universal design" (2008), told apart with any colour vision.
reset
set encoding utf8
set termoption noenhanced
set border 3 lc rgb '#555555'
set tics nomirror out textcolor rgb '#222222'
set grid ytics lc rgb '#dddddd' lt 1 lw 0.5
set key outside bottom center horizontal Left reverse noenhanced samplen 3 width 1 height 0.5
set title noenhanced offset 0,0.3
set xlabel offset 0,0.3
set bars small
set style line 1 lc rgb '#0072b2' lw 2.5 pt 7 ps 0.9
set style line 2 lc rgb '#d55e00' lw 2.5 pt 5 ps 0.9
set style line 3 lc rgb '#009e73' lw 2.5 pt 9 ps 1.1
set style line 4 lc rgb '#cc79a7' lw 2.5 pt 13 ps 1.2
set style line 5 lc rgb '#e69f00' lw 2.5 pt 6 ps 1.0
set style line 6 lc rgb '#56b4e9' lw 2.5 pt 4 ps 1.0
set style line 10 lc rgb '#000000' lw 1.5 dt 2
set style line 11 lc rgb '#666666' lw 1.5 dt 3
set style line 12 lc rgb '#999999' lw 1.5 dt 4
set style line 13 lc rgb '#882255' lw 1.5 dt 2
set style line 14 lc rgb '#117733' lw 1.5 dt 3
set style line 15 lc rgb '#88762a' lw 1.5 dt 4
