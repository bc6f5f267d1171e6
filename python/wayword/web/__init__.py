"""A server and a page: translate, see why, steer, teach.

In: systems, and requests in the shape of the LibreTranslate API, so that clients that exist speak
to it. Out: JSON; a page of plain HTML, CSS and JavaScript that fetches nothing from elsewhere.
How: ``service`` knows systems and no HTTP, ``pool`` runs searches in a bounded queue, ``app`` is
the HTTP side, ``server`` starts and stops it. Starlette routes and reads requests, uvicorn speaks
HTTP: both are small, pure Python, BSD-licensed and kept by the same people for years; one process
with threads is enough, as searches run in the core without Python's lock and share mapped models.
Cost: about a millisecond a request beside the search.
Not: encryption (put a proxy before it), several processes, accounts.
"""
