"""Addresses of the quota tree."""

from django.urls import path

from portal.pages.quotatree import books, node, planned, tree

urlpatterns = [
    path("quotas/tree/", tree.index, name="quota-tree"),
    path("quotas/tree/use/", tree.use, name="quota-tree-use"),
    path("quotas/tree/judged/", tree.judged, name="quota-tree-judged"),
    path("quotas/tree/bulk/", tree.bulk, name="quota-tree-bulk"),
    path("quotas/tree/<str:key>/", node.detail, name="quota-node"),
    path("quotas/tree/<str:key>/plan/", planned.new, name="quota-plan"),
    path("quotas/changes/<str:change>/undo/", node.undo, name="quota-undo"),
    path("quotas/planned/", planned.index, name="quota-plans"),
    path("quotas/planned/<str:uid>/cancel/", planned.cancel, name="quota-plan-cancel"),
    path("quotas/drift/", books.drifts, name="quota-drifts"),
    path("quotas/drift/<int:pk>/repair/", books.repair, name="quota-repair"),
    path("quotas/unused/", books.unused, name="unused-leases"),
    path("quotas/unused/<str:uid>/keep/", books.withdraw, name="cutback-withdraw"),
]
