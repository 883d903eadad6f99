// The board where scripts run: what changes is shown at once, and keys move about. Without it the page is whole, and loads again by hand.
"use strict";

(function () {
  // -- what changes, by server-sent events

  const part = document.querySelector("[data-live]");
  const WORD_CLASSES = ["overdue", "running", "met", "waiting", "closed", "merged", "held", "coming"];

  function lineOf(reference) {
    return document.querySelector(`[data-spill="${CSS.escape(reference)}"]`);
  }

  function put(element, words) {
    if (element && element.textContent !== words) {
      element.textContent = words;
    }
  }

  // Shows on a line how its spill stands now. Returns whether its place in the list is another one.
  function draw(line, told) {
    const before = line.dataset.sort || "";
    WORD_CLASSES.forEach(function (name) { line.classList.toggle(name, name === told.state); });
    const word = line.querySelector("[data-part=word]");
    word.className = `usa-tag ${told.state}`;
    put(word, told.word);
    put(line.querySelector("[data-part=what]"), told.what);
    const left = line.querySelector("[data-part=left]");
    if (left && told.due) {
      left.className = `standing ${told.state}`;
      if (told.at_once) {
        delete left.dataset.due;
      } else {
        left.dataset.due = told.due;
      }
      put(left, told.left);
      put(line.querySelector("[data-part=title]"), told.title);
      put(line.querySelector("[data-part=when]"), told.when);
    }
    ["late", "overdue", "to_do"].forEach(function (name) {
      const said = line.querySelector(`[data-part=${name}]`);
      if (said) {
        said.hidden = !told[name];
        put(said, name === "late" ? told.late : `${told[name]} ${name === "overdue" ? "overdue" : "to do"}`);
      }
    });
    return told.sort !== before || !told.on;
  }

  function live() {
    const said = part.querySelector("[data-live-said]");
    const more = part.querySelector("[data-live-more]");
    const changed = new Set();
    let source = null, since = part.dataset.since, ended = false;

    // Whether a spill that is not on this page would be after loading it again. Only the server knows that of a filter.
    function belongs(told) {
      const inSight = !part.dataset.last || told.sort <= part.dataset.last || told.first;
      return part.dataset.whole === "yes" && told.on && inSight;
    }

    function take(told) {
      const line = lineOf(told.reference);
      if (line ? draw(line, told) : belongs(told)) {
        changed.add(told.reference);
      }
      if (changed.size) {
        const words = more.querySelector("[role=status]");
        more.hidden = false;
        put(words, changed.size === 1 ? words.dataset.one : words.dataset.many.replace("%(number)s", changed.size));
      }
    }

    function close() {
      if (source) {
        source.close();
        source = null;
      }
    }

    function open() {
      if (source || ended || document.hidden) {
        return;
      }
      source = new EventSource(`${part.dataset.live}?since=${encodeURIComponent(since)}`);
      source.addEventListener("open", function () { put(said, said.dataset.on); });
      source.addEventListener("error", function () {
        put(said, said.dataset.off);
        if (source && source.readyState === EventSource.CLOSED) {
          close();
          setTimeout(open, 30000); // refused: asked again after a while
        }
      });
      source.addEventListener("spills", function (event) {
        since = event.lastEventId || since;
        JSON.parse(event.data).forEach(take);
      });
      source.addEventListener("reload", function () {
        changed.add("");
        more.hidden = false;
      });
      source.addEventListener("end", function () {
        ended = true;
        close();
        put(said, said.dataset.ended);
      });
    }

    more.querySelector("button").addEventListener("click", function () { location.reload(); });
    // A browser keeps few connections to one server: a page that nobody looks at gives its own back.
    document.addEventListener("visibilitychange", function () { document.hidden ? close() : open(); });
    window.addEventListener("pagehide", close);
    window.addEventListener("pageshow", open);
    part.hidden = false;
    open();
  }

  if (part && window.EventSource) {
    live();
  }

  // -- keys

  const dialog = document.querySelector("[data-keys]");
  const SWITCH = "spillclock-keys";

  function kept() {
    try {
      return localStorage.getItem(SWITCH) !== "off";
    } catch {
      return true; // a browser that keeps nothing forgets the switch, too
    }
  }

  function keep(on) {
    try {
      localStorage.setItem(SWITCH, on ? "on" : "off");
    } catch {
      // as above: the switch then holds for this page
    }
  }

  function isField(element) {
    return element.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName);
  }

  function go(step) {
    const links = Array.from(document.querySelectorAll("[data-spill] h3 a"));
    const here = document.activeElement.closest("[data-spill]");
    const at = here ? links.findIndex(function (link) { return here.contains(link); }) : -1;
    const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
    if (next) {
      next.focus();
      next.closest("[data-spill]").scrollIntoView({ block: "nearest" });
    }
  }

  function press(element) {
    if (element) {
      element.click();
    }
  }

  if (dialog && dialog.showModal) {
    const opener = document.querySelector("[data-keys-open]");
    const box = dialog.querySelector("[data-keys-on]");
    let on = kept();
    const does = {
      "/": function () { const field = document.getElementById("q"); field.focus(); field.select(); },
      j: function () { go(1); },
      k: function () { go(-1); },
      r: function () { press(document.querySelector("[data-live-more]:not([hidden]) button")); },
      "?": function () { dialog.showModal(); },
    };
    document.querySelectorAll("[data-key]").forEach(function (link) {
      does[link.dataset.key] = function () { press(link); };
    });
    box.checked = on;
    box.addEventListener("change", function () { on = box.checked; keep(on); });
    opener.hidden = false;
    opener.querySelector("button").addEventListener("click", function () { dialog.showModal(); });
    dialog.querySelector("[data-keys-close]").addEventListener("click", function () { dialog.close(); });
    document.addEventListener("keydown", function (event) {
      const does_it = does[event.key];
      if (!on || !does_it || event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      if (dialog.open || isField(event.target)) {
        return;
      }
      event.preventDefault();
      does_it();
    });
  }
})();
