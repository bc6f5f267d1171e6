"""Runs the stages of a training on many machines, as tasks of a Ray cluster.

``runner`` the runner that ``wayword train --runner ray`` uses, and the choice of one by its name ·
``task`` what a node does: make a stage, spread its shards · ``crew`` tasks under way · ``place``
how files get from one node to another: a folder that all see, or ``objects`` on storage ·
``hearing`` what tasks tell meanwhile.

How it works, from the outside in:

* Stages that do not need each other run at the same time, each as a task on any node. The driver,
  which is the process that was asked, keeps the graph, the lock of the folder and nothing else.
* A stage that can be cut (``Work.spread``) makes tasks of its shards, which are small stages
  themselves; its own process makes some of them, and gives its CPUs back while it waits.
* Tasks talk through files: a result is written aside and renamed, so that it may be made twice and
  found by whoever comes later. What is sent through Ray are descriptions of a few kilobytes.
* A task whose node is lost is given to another node by Ray. What had been finished, whole stages
  and shards, is found and not made again.

Same input, same bytes as on one machine: stages promise that neither threads nor shards change a
result, and the runner adds nothing to it.
"""

from wayword.cluster.runner import RayRunner, open_runner

__all__ = ["RayRunner", "open_runner"]
