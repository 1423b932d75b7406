"""The same facts and questions put to this package and to its peers, in one run: `make peers`.

Not part of the package. `workload` says what is asked, `vectors` hands everybody the same vectors, `engines`
has one small adapter a peer, `measure` is what happens in each one's process, `report` is the table.
"""
