# The style of all charts, copied into every script that mw.plot writes, with the colours of
# lua/moonwarp/plot/palette.lua in place of their names.
reset
set encoding utf8
set termoption noenhanced
set samples 2
set border 3 lc rgb '$soft'
set tics nomirror out scale 0.5 textcolor rgb '$soft'
set grid ytics lc rgb '$grid' lt 1 lw 1
set key outside bottom center horizontal Left reverse noenhanced samplen 2.5 width 1 height 0.5 textcolor rgb '$text'
set title noenhanced offset 0,-0.3 textcolor rgb '$title'
set xlabel offset 0,0.3 textcolor rgb '$text'
set ylabel textcolor rgb '$text'
set cblabel textcolor rgb '$text'
set bars 0.7
set clip two
set autoscale noextend
# no white disc under the middle of an error bar; 0 would mean the usual one
set pointintervalbox 0.0001
