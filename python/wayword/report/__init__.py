"""Tables and pictures for people; all layout is here, stages give values.

``table`` writes any table as text, Markdown, LaTeX or CSV · ``doctor``, ``extract``, ``waw``,
``evaluate``, ``tuning``, ``experiment`` and ``oracle`` tell what these stages gave, ``losses`` what
a training run left out · ``pair`` shows a sentence pair, ``heat`` a word-after-word matrix,
``lattice`` the orders of a space, ``derivation`` how a translation came about, ``case`` what went
wrong in one and ``side_by_side`` what systems made of the same text, as a page.
"""
