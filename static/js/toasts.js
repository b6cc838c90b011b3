// Short words at the corner: Django's messages at load, HX-Trigger "toast", and lost requests.
(function () {
    "use strict";
    const levels = { debug: "info", error: "danger" };

    function region() {
        return document.getElementById("toasts");
    }

    function show(level, text, url) {
        const template = document.getElementById("toast-template");
        if (!region() || !template || !text) {
            return;
        }
        const toast = template.content.firstElementChild.cloneNode(true);
        const kind = levels[level] || level || "info";
        toast.classList.add("gp-toast-" + kind);
        if (kind === "danger" || kind === "warning") {
            toast.setAttribute("role", "alert");
        }
        const body = toast.querySelector("[data-toast-text]");
        body.textContent = text;
        if (url && url.startsWith("/")) {
            const link = toast.querySelector("[data-toast-link]");
            link.href = url;
            link.hidden = false;
        }
        toast.querySelector("[data-toast-close]").addEventListener("click", function () {
            toast.remove();
        });
        region().append(toast);
        if (kind !== "danger") {
            setTimeout(function () {
                toast.remove();
            }, 8000);
        }
    }

    function words(name) {
        return region() ? region().dataset[name] : "";
    }

    window.gpupoolToast = show;

    document.addEventListener("DOMContentLoaded", function () {
        document.querySelectorAll("[data-message]").forEach(function (element) {
            show(element.dataset.message, element.textContent.trim(), element.dataset.url);
            element.remove();
        });
    });
    document.addEventListener("toast", function (event) {
        show(event.detail.level, event.detail.text, event.detail.url);
    });
    document.addEventListener("htmx:sendError", function () {
        show("danger", words("offline"));
    });
    document.addEventListener("htmx:responseError", function (event) {
        const status = event.detail.xhr.status;
        show("danger", words("s" + status) || words("failed"));
    });
})();
