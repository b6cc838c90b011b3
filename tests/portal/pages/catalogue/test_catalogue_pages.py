"""Pages of the catalogues: who sees what, who changes what, and what is never shown."""

from nodeagent.protocol.places import Place
from pool.models import Environment, Registry, Secret, Storage, Workload
from pool.services.catalogue.watched import places_take

HUSH = "correct-horse-battery-staple"
DIGEST = "sha256:" + "c" * 64
FOLDER = {
    "name": "Data",
    "kind": "dataset",
    "backing": "host",
    "path": "/srv/data",
    "mode": "ro",
}


def page(visitor, path):
    answer = visitor.open(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_everybody_sees_the_storage_of_their_projects_and_only_the_platform_allows_more(
    visit, world
):
    text = page(visit("member"), "/storage/")
    assert "/srv/vision" in text and "/srv/speech" not in text and "Allow a folder" not in text
    assert visit("member").send("/storage/", FOLDER).status_code == 403
    admin = visit("platform_admin")
    assert admin.send("/storage/", FOLDER).status_code == 303
    assert admin.send("/storage/", FOLDER).status_code == 422
    assert "/srv/data" in page(admin, "/storage/?kind=dataset")
    assert "Nothing matches" in page(admin, "/storage/?kind=home")


def test_storage_is_closed_and_taken_out(visit, world):
    row, admin = world.own.storage, visit("platform_admin")
    assert visit("lead").send(f"/storage/{row.uid}/change/", {"active": "0"}).status_code == 403
    assert admin.send(f"/storage/{row.uid}/change/", {"active": "0"}).status_code == 303
    assert Storage.objects.get(pk=row.pk).active is False
    assert admin.send(f"/storage/{row.uid}/remove/").status_code == 303
    assert not Storage.objects.filter(pk=row.pk).exists()


def test_a_secret_is_set_and_its_value_is_on_no_page_afterwards(visit, world):
    member = visit("member")
    wrong = member.send("/secrets/", {"name": "bad name", "value": HUSH})
    assert wrong.status_code == 422 and HUSH not in wrong.content.decode()
    assert member.send("/secrets/", {"name": "HF", "value": HUSH}).status_code == 303
    text = page(member, "/secrets/?whose=mine")
    assert "HF" in text and HUSH not in text
    row = Secret.objects.get(name="HF")
    assert visit("lead").send(f"/secrets/{row.uid}/rotate/", {"value": "x"}).status_code == 404
    assert member.send(f"/secrets/{row.uid}/rotate/", {"value": "x"}).status_code == 303
    row.refresh_from_db()
    assert row.version == 2
    assert member.send(f"/secrets/{row.uid}/remove/").status_code == 303
    assert "No secrets yet" not in page(member, "/secrets/")


def test_a_projects_secret_is_changed_by_who_leads_it(visit, world):
    row = world.own.secret
    assert visit("member").send(f"/secrets/{row.uid}/rotate/", {"value": "x"}).status_code == 403
    assert visit("lead").send(f"/secrets/{row.uid}/rotate/", {"value": "x"}).status_code == 303
    assert visit("stranger").send(f"/secrets/{row.uid}/remove/").status_code == 404


def test_environments_are_kept_by_those_who_manage_them(visit, world):
    given = {
        "slug": "torch",
        "name": "Torch",
        "kind": "image",
        "reference": "registry.example.com/torch:2",
        "digest": DIGEST,
        "instruction_set": "cuda",
        "tested": "A100-80GB, H100-80GB",
    }
    assert visit("member").send("/environments/", given).status_code == 403
    admin = visit("platform_admin")
    assert admin.send("/environments/", given | {"digest": "latest"}).status_code == 422
    assert admin.send("/environments/", given).status_code == 303
    row = Environment.objects.get(slug="torch")
    assert row.tested == ["A100-80GB", "H100-80GB"]
    said = {"note": "take torch-3"}
    assert admin.send(f"/environments/{row.uid}/deprecate/", said).status_code == 303
    assert "take torch-3" in page(visit("member"), "/environments/?set=cuda")
    assert admin.send(f"/environments/{row.uid}/remove/").status_code == 303
    organization = {"slug": "own", "organization": "vision-org"}
    assert visit("org_admin").send("/environments/", given | organization).status_code == 303


def test_registries_are_named_by_the_platform(visit, world):
    admin = visit("platform_admin")
    new = {"prefix": "other.example.com/team"}
    assert visit("org_admin").send("/environments/registries/", new).status_code == 403
    assert admin.send("/environments/registries/", new).status_code == 303
    row = Registry.objects.get(prefix="other.example.com/team")
    assert admin.send(f"/environments/registries/{row.uid}/remove/").status_code == 303
    assert not Registry.objects.filter(pk=row.pk).exists()


def test_the_job_form_gives_work_what_it_names_and_its_page_shows_it(visit, world):
    places_take(node=world.node, places=(Place(path="/srv/vision"),))
    form = {
        **{"project": "vision", "template": world.version.template.slug, "how": "template"},
        **{"name": "given", "command": "true", "time_value": "1 h"},
        **{"parts": "1", "storage_1": world.own.storage.uid, "storage_1_at": "data"},
        **{"secret_1": world.own.secret.uid, "secret_1_name": "T", "secret_1_form": "env"},
    }
    member = visit("member")
    assert "vision data" in page(member, "/workloads/new/")
    answer = member.send("/workloads/new/", form)
    assert answer.status_code == 303, answer.content.decode()[-2000:]
    made = Workload.objects.get(name="given")
    text = page(member, f"/workloads/{made.uid}/")
    assert "vision data" in text and "Secrets" in text
    like = page(member, f"/workloads/new/?like={made.uid}")
    assert 'value="data"' in like
    wrong = member.send("/workloads/new/", form | {"storage_1_at": "../up"})
    assert wrong.status_code == 422 and "not a plain path" in wrong.content.decode()
