// Asks before a destructive act, in a dialog of the page; nothing uses window.confirm.
(function () {
    "use strict";

    function ask(source, go) {
        const dialog = document.getElementById("confirm");
        dialog.querySelector("[data-confirm-title]").textContent = source.dataset.confirmTitle || "";
        dialog.querySelector("[data-confirm-text]").textContent = source.dataset.confirm;
        const yes = dialog.querySelector("[data-confirm-yes]");
        yes.textContent = source.dataset.confirmYes || yes.dataset.default;
        const modal = window.tabler.Modal.getOrCreateInstance(dialog);
        const fresh = yes.cloneNode(true);
        yes.replaceWith(fresh);
        fresh.addEventListener("click", function () {
            modal.hide();
            go();
        });
        dialog.addEventListener(
            "shown.bs.modal",
            function () {
                fresh.focus();
            },
            { once: true }
        );
        modal.show();
    }

    document.addEventListener("htmx:confirm", function (event) {
        const source = event.detail.elt;
        if (source.dataset && source.dataset.confirm) {
            event.preventDefault();
            ask(source, function () {
                event.detail.issueRequest(true);
            });
        }
    });
    document.addEventListener("submit", function (event) {
        const form = event.target;
        const source = event.submitter && event.submitter.dataset.confirm ? event.submitter : form;
        const viaHtmx = form.hasAttribute("hx-post") || form.hasAttribute("data-hx-post");
        if (!source.dataset.confirm || viaHtmx || form.dataset.confirmed) {
            return;
        }
        event.preventDefault();
        ask(source, function () {
            form.dataset.confirmed = "1";
            form.requestSubmit(event.submitter || undefined);
        });
    });
    document.addEventListener("submit", function (event) {
        const form = event.target;
        if (event.defaultPrevented || form.hasAttribute("hx-post") || form.hasAttribute("data-keep")) {
            return;
        }
        setTimeout(function () {
            form.querySelectorAll("button[type=submit]").forEach(function (button) {
                button.disabled = true;
            });
        }, 0);
    });
})();
