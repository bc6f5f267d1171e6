"""Pictures and pages: SVG and HTML written by hand, that need nothing else to be shown.

``element`` writes escaped markup · ``axis`` numbers, ticks and the widths of words · ``chart``
bars, histograms, curves and points · ``matrix`` heat maps and grids of links · ``sentence`` words
with arcs · ``tree`` what is near to what · ``page`` the shell: one file, light and dark, no request
anywhere.

It stands on the ground floor, so that links, matrices and translations can show themselves. What is
told with it is the business of ``wayword.report``; why it is our own: docs/decisions/pages.md.
"""
