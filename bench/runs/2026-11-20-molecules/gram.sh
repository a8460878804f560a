# Gram matrices for sums.py: sh gram.sh MLG TABLES TABLE…, with mlg built after roles.patch for those of roles.
mlg=$1 tables=$2
shift 2
for t; do
  gram() { "$mlg" --quiet gram "$tables/$t.csv" --kernel "$2" -o "$t.$1.npy" >/dev/null; }
  gram oa "wl-oa h=4"; gram oab "wl-oa h=4 incident"; gram oas "wl-oa h=4 incident stereo"
  gram ns "nspd r=1 d=5"; gram nsb "nspd r=1 d=5 incident"
  gram sp sp; gram spb "sp incident"
  gram ml "mlg base=labels bonds=false rank=16 samples=50 eta=1 combine=sum radii=1,2"
  gram sub "mlg base=labels bonds=false rank=16 eta=1 combine=sum radii=1,2 subdivide"
  gram comp composition; gram wide "composition width=300"
  for s in fine ring hyd pharm; do
    export MLG_ROLES=$s
    gram oa_$s "wl-oa h=4 incident roles"; gram ns_$s "nspd r=1 d=5 incident roles"; gram mlg_$s "mlg roles"
  done
done
