// The wall display where scripts run: it fetches itself when something changes, and every minute; and it says when it no longer can.
"use strict";

(function () {
  const SILENT = 3; // tries that fail before it is said
  const SOON = 3000; // so that much that changes at once is fetched once
  let main = document.querySelector("[data-wall]");
  let failed = 0, planned = null, ended = false;

  function trouble(words) {
    const part = main.querySelector("[data-trouble]");
    part.textContent = words;
    part.hidden = !words;
  }

  function end() {
    ended = true;
    trouble(main.querySelector("[data-trouble]").dataset.ended);
  }

  async function fetched() {
    planned = null;
    if (ended) {
      return;
    }
    try {
      const answer = await fetch(main.dataset.wall, { cache: "no-store" });
      if (answer.redirected) {
        end();
        return;
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = page.querySelector("[data-wall]");
      if (!answer.ok || !next) {
        throw new Error(String(answer.status));
      }
      failed = 0;
      // Whoever came here with the keyboard stays where they were.
      const here = main.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      main.replaceWith(next);
      main = next;
      if (here) {
        (main.querySelector(`a[href="${CSS.escape(here)}"]`) || main.querySelector("a")).focus({ preventScroll: true });
      }
    } catch {
      failed += 1;
      if (failed >= SILENT) {
        trouble(main.querySelector("[data-trouble]").dataset.silent);
      }
    }
  }

  function soon() {
    planned = planned || setTimeout(fetched, SOON);
  }

  setInterval(fetched, Number(main.dataset.every) * 1000);
  if (window.EventSource) {
    let source = null;
    const listen = function () {
      source = new EventSource(`${main.dataset.live}?since=${encodeURIComponent(main.dataset.since)}`);
      source.addEventListener("spills", soon);
      source.addEventListener("reload", soon);
      source.addEventListener("end", function () { source.close(); end(); });
      source.addEventListener("error", function () {
        if (source.readyState === EventSource.CLOSED && !ended) {
          setTimeout(listen, 30000);
        }
      });
    };
    listen();
    window.addEventListener("pagehide", function () { source.close(); });
  }
})();
