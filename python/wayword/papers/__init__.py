"""The four papers behind wayword as readable Python.

Each module follows one paper: same names, same symbols, the number of each equation, table and
figure in the docstrings. The code is written to be read beside the paper, on short sentences; the
tests compare it with the fast implementation.

* ``bisazza_federico_2013``: the word-after-word model and early reordering pruning
* ``dreyer_et_al_2007``: reordering constraints compared by oracle BLEU
* ``tromble_eisner_2009``: the linear ordering problem as a reordering model
* ``galley_manning_2008``: hierarchical orientation
* ``phrase_decoder``: the stack decoder that the four share, with ``ngram_model``

The package imports NumPy and SciPy at most, and nothing else of wayword.
"""
