r"""The names of LaTeX commands (LaTeX, amsmath, amssymb, mathtools, siunitx, physics), to tell `\nabla` from a line break and `abla`."""

_NAMES = r"""
abovedisplayskip abs acute addcontentsline addtocounter ae aleph align alph Alpha alpha amalg and angle anticommutator
approx approxeq arabic arc arccos arccosh arccot arcctg arcsec arcsin arcsinh arctan arctanh arctg arg argmax argmin
array arraycolsep arraystretch arrow arrowvert ast asymp atop atopwithdelims author backepsilon backprime backsim
backsimeq backslash bar barwedge baselineskip bb Bbb Bbbk bbox bcancel because begin begingroup belowdisplayskip Beta
beta beth between bf bfseries bgroup bibitem bibliography Big big bigcap bigcirc bigcup Bigg bigg Biggl biggl Biggm
biggm Biggr biggr Bigl bigl Bigm bigm bigodot bigoplus bigotimes Bigr bigr bigskip bigsqcap bigsqcup bigstar
bigtriangledown bigtriangleup biguplus bigvee bigwedge binom blacklozenge blacksquare blacktriangle blacktriangledown
blacktriangleleft blacktriangleright bm bmatrix bmod bold boldmath boldsymbol bot bottomrule bowtie Box boxdot boxed
boxminus boxplus boxtimes bra brace brack bracket braket breve buildrel bullet Bumpeq bumpeq cal calc cancel cancelto
Cap cap caption captionof cases cbrt cdot cdotp cdots ce center centerdot centering centerline cfrac chapter check
checkmark Chi chi choose circ circeq circle circlearrowleft circlearrowright circledast circledcirc circleddash
circledR circledS cite clap class clearpage cline clubsuit Colon colon colonapprox coloneq coloneqq color colorbox
columncolor columnwidth commutator comp complement Complex complexes cong coprod copyright cos cosec cosh cot coth cov
cpageref cr cref crossproduct csc csch ctg Cup cup curl curlyeqprec curlyeqsucc curlyvee curlywedge curvearrowleft
curvearrowright dag dagger daleth dashleftarrow dashrightarrow dashv date dbinom dblcolon dd ddag ddagger ddddot dddot
ddot ddots DeclareMathOperator def definecolor deg degree Delta delta det dfrac diag diagdown diagup Diamond diamond
diamondsuit dif diff differential digamma dim ding displaylimits displaystyle div divergence divideontimes divsymb
document documentclass dot doteq doteqdot dotfill dotplus dotproduct dots dotsb dotsc dotsi dotsm dotso doublebarwedge
doublecap doublecup Downarrow downarrow downdownarrows downharpoonleft downharpoonright draw dv egroup ell em emph
empty emptyset end endgroup enskip enspace ensuremath enumerate Epsilon epsilon eqcirc eqcolon eqnarray eqno eqqcolon
eqref eqsim eqslantgtr eqslantless equation equiv erf erfc ess Eta eta eth EUR euro ev eval evaluated exists exp
expectationvalue expval fallingdotseq fbox fboxrule fboxsep fcolorbox fi figure fill filldraw fint Finv flalign flat
fleq floor flushleft flushright fn footnote footnotemark footnotesize footnotetext forall frac frak frame framebox
frown functional Game Gamma gamma gather gcd ge genfrac geq geqq geqslant gets gg ggg gggtr gimel gnapprox gneq gneqq
gnsim grad gradient graphicspath grave gtrapprox gtrdot gtreqless gtreqqless gtrless gtrsim gvertneqq hat hbar hbox
hdashline hdots hdotsfor heartsuit height hfil hfill hline hom hookleftarrow hookrightarrow hphantom href hrule
hrulefill hskip hslash hspace Huge huge hyperref hyphenation iddots idotsint iff ifx iiiint iiint iint Im im image
imaginary imath impliedby implies in includegraphics indent inf infin infty injlim input institute int intercal
interior intertext intop inv Iota iota isin it item itemize itshape jmath Join join jot Kappa kappa ker kern ket
ketbra kg kgf km label labelsep Lambda lambda land langle LARGE Large large LaTeX lbrace lbrack lceil lcm ldotp ldots
le leadsto left Leftarrow leftarrow leftarrowtail leftharpoondown leftharpoonup leftleftarrows leftmargin
Leftrightarrow leftrightarrow leftrightarrows leftrightharpoons leftrightsquigarrow leftroot leftthreetimes len length
leq leqq leqslant lessapprox lessdot lesseqgtr lesseqqgtr lessgtr lesssim let lfloor lg lgroup lhd lhook lim liminf
limits limsup line linebreak linewidth listoffigures ll llbracket llcorner Lleftarrow lll llless lmoustache ln
lnapprox lneq lneqq lnot lnsim Log log Longleftarrow longleftarrow Longleftrightarrow longleftrightarrow longmapsto
Longrightarrow longrightarrow looparrowleft looparrowright lor lower lozenge lq lrcorner Lsh ltimes lVert lvert
lvertneqq makeatletter makebox maketitle maltese mapsfrom mapsto mathbb mathbf mathbin mathcal mathchoice mathclap
mathclose mathds mathfrak mathinner mathit mathllap mathnormal mathop mathopen mathord mathpalette mathpunct mathrel
mathring mathrlap mathrm mathscr mathsf mathsterling mathstrut mathtt mathversion matrix matrixel max mbox mdseries
measuredangle medskip medspace mho mid middle midrule min minipage mkern mod models mp mskip mspace Mu mu multicolumn
multimap multirow multline nabla natnums natural ncong ne nearrow neg negative negmedspace negthickspace negthinspace
neq newcolumntype newcommand newcounter newenvironment newline newpage newtheorem nexists ngeq ngeqq ngeqslant ngtr ni
nicefrac nLeftarrow nleftarrow nLeftrightarrow nleftrightarrow nleq nleqq nleqslant nless nmid nobreak nobreakspace
nocite noindent nolimits nolinebreak nonumber nopagebreak norm normal normalfont normalsize not notag notin notni
nparallel nprec npreceq nRightarrow nrightarrow nshortmid nshortparallel nsim nsubset nsubseteq nsubseteqq nsucc
nsucceq nsupset nsupseteq nsupseteqq ntriangleleft ntrianglelefteq ntriangleright ntrianglerighteq Nu nu null
nulldelimiterspace num numberwithin numlist numrange nVDash nVdash nvDash nvdash nwarrow odot oe of ohm oiiint oiint
oint Omega omega Omicron omicron ominus op operatorname oplus oslash otimes outerproduct over overbrace overbracket
overleftarrow overleftrightarrow overline overparen overrightarrow overset overwithdelims owns pagebreak pageref
pagestyle par paragraph parallel parbox parindent parskip part partial partialderivative path pdv permil perp phantom
Phi phi Pi pi pitchfork plusmn pm pmatrix pmb pmod pod poissonbracket pounds pqty Pr prec precapprox preccurlyeq
preceq precnapprox precneqq precnsim precsim prescript prime principalvalue Prod prod projlim proof propto protect
providecommand Psi psi qed qedhere qedsymbol qq qqtext qquad qty quad quantity ragged raggedleft raggedright raise
raisebox randint range rangle rank rbrace rbrack rceil Re re real Reals reals ref reflectbox relax Relbar relbar
relsize renewcommand require resizebox restriction reversemarginpar rfloor rgroup rhd Rho rho rhook right rightangle
Rightarrow rightarrow rightarrowtail rightharpoondown rightharpoonup rightleftarrows rightleftharpoons rightmargin
rightrightarrows rightsquigarrow rightthreetimes risingdotseq rlap rm rmfamily rmoustache roman root rotatebox row
rowcolor rowspan rq rrbracket Rrightarrow rsb Rsh rtimes rule rVert rvert sb sc scalebox scriptscriptstyle scriptsize
scriptstyle scshape searrow sec sech section selectfont setcounter setlength setminus sf sffamily sgn sharp shortmid
shortparallel shoveleft shoveright SI si sideset Sigma sigma sim simeq sin sinh SIrange skew sl slash small smallfrown
smallint smallsetminus smallskip smallsmile smash smile smiley space spadesuit span spbreve sphericalangle sqcap sqcup
sqrt sqsubset sqsubseteq sqsupset sqsupseteq square squareroot ss stackrel star stretch strut style subsection Subset
subset subseteq subseteqq subsetneq subsetneqq substack subsubsection succ succapprox succcurlyeq succeq succnapprox
succneqq succnsim succsim sum sup Supset supset supseteq supseteqq supsetneq supsetneqq surd swarrow tabcolsep table
tableofcontents tabular tabularnewline tag tan tanh tanphi Tau tau tbinom TeX text textasciicircum textasciitilde
textbackslash textbar textbf textbraceleft textbraceright textbullet textcelsius textcircled textcolor textcopyright
textdagger textdegree textdollar textellipsis textemdash textendash texteuro textgreater textheight textit textless
textlf textmd textmu textnormal textohm textonehalf textpercent textperiodcentered textquotedblleft textquotedblright
textquoteleft textquoteright textquotesingle textregistered textrm textsc textsf textsl textsterling textstyle
textsubscript textsuperscript texttimes texttrademark texttt textunderscore textup textvisiblespace textwidth tfrac Tg
tg th thanks theorem therefore Theta theta thetasym thickapprox thicklines thicksim thickspace thinspace tie tikz
tikzpicture tilde times tiny title to today top topbar toprule tr trace triangle triangledown triangleleft
trianglelefteq triangleq triangleright trianglerighteq tt ttfamily twocolumn twoheadleftarrow twoheadrightarrow
typeout ucal ulcorner uline unboldmath underbar underbrace underbracket undergroup underleftarrow underleftrightarrow
underline underlinesegment underparen underrightarrow underset undertilde unicode unit unlhd unrhd Uparrow uparrow
Updownarrow updownarrow upharpoonleft upharpoonright uplus uproot upshape upsih Upsilon upsilon upuparrows urcorner
url usepackage usetikzlibrary uwave varDelta varepsilon varGamma varinjlim varkappa varLambda varliminf varlimsup
varnothing varOmega varPhi varphi varpi varprojlim varpropto varPsi varrho varSigma varsigma varsubsetneq
varsubsetneqq varsupsetneq varsupsetneqq varTheta vartheta vartriangle vartriangleleft vartriangleright varUpsilon
varXi vb vbox vcenter Vdash vDash vdash vdots vec vectorarrow vectorbold vee veebar verb Vert vert vfill vmatrix vmode
vphantom vqty vskip vspace vstrut vu Vvdash wedge widecheck widehat widetilde width wp wr xcancel xhookleftarrow
xhookrightarrow Xi xi xLeftarrow xleftarrow xleftharpoondown xleftharpoonup xLeftrightarrow xleftrightarrow
xleftrightharpoons xlongequal xmapsto xRightarrow xrightarrow xrightharpoondown xrightharpoonup xrightleftharpoons
xspace xtwoheadleftarrow xtwoheadrightarrow zeroset Zeta zeta
"""

COMMANDS = frozenset(_NAMES.split())

# Without the first letter these could as well begin a line or a column: nu, or a line break and u.
_LIKE_WORDS = """
ne nexists ni nless nmid nparallel nprec nsim nsubset nsucc nu num
table tag tan tau text tg th tie to top tr trace tt
"""

LIKE_WORDS = frozenset(_LIKE_WORDS.split())
