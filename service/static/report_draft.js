// Keeps what is typed on this device until it is sent, and sends it when there is signal. The form works without it.
"use strict";

(function () {
  const form = document.querySelector("form[data-spill-report]");
  if (!form) {
    return;
  }
  const one = function (name) { return form.querySelector(`[data-${name}]`); };
  const DRAFT = "spillclock-report";
  const WHO = "spillclock-report-who"; // who reports is forgotten with the tab
  const PRIVATE = ["name", "phone", "email"];
  const STANDING = ["unit", "privacy", "language"]; // these hold an answer before anybody gives one
  const LONGEST = 3 * 86400 * 1000;
  const AGAIN = 20000;
  const said = one("sending");
  const offline = one("offline");
  const auto = one("auto");
  let step = 0;
  let waits = 0;
  let timer = 0;
  let sending = false;
  let pressed = null; // the button that the report was last sent with

  // A browser may refuse to keep anything: then the form is as it is without this script.
  function remember(store, key, value) {
    try {
      if (value === null) {
        store().removeItem(key);
      } else {
        store().setItem(key, JSON.stringify(value));
      }
      return true;
    } catch {
      return false;
    }
  }

  function recall(store, key) {
    try {
      return JSON.parse(store().getItem(key));
    } catch {
      return null;
    }
  }

  const device = function () { return window.localStorage; };
  const tab = function () { return window.sessionStorage; };

  function fields() {
    return Array.from(form.querySelectorAll("[data-step] [name]")).filter(function (field) { return field.type !== "file"; });
  }

  function isChoice(field) {
    return field.type === "radio" || field.type === "checkbox";
  }

  // On an empty form, what a field holds by itself is not worth keeping.
  function isTyped(field) {
    const fresh = "fresh" in form.dataset;
    if (isChoice(field)) {
      return field.checked && !(fresh && field.defaultChecked);
    }
    if (field.tagName === "SELECT") {
      return field.value !== "" && !(fresh && field.selectedOptions[0].defaultSelected);
    }
    return field.value !== "";
  }

  function keep() {
    const typed = {};
    const who = {};
    fields().filter(isTyped).forEach(function (field) {
      const into = PRIVATE.includes(field.name) ? who : typed;
      into[field.name] = (into[field.name] || []).concat(field.value);
    });
    const photos = form.elements.photos ? form.elements.photos.files.length : 0;
    const any = Object.keys(typed).some(function (name) { return !STANDING.includes(name); }) || Object.keys(who).length || photos;
    const named = Object.keys(who).length > 0; // that somebody said who they are, and not who
    const draft = { at: Date.now(), once: form.elements.once.value, step, photos, named, typed };
    remember(device, DRAFT, any ? draft : null);
    remember(tab, WHO, Object.keys(who).length ? who : null);
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(keep, 300);
  }

  function forget() {
    clearTimeout(timer);
    remember(device, DRAFT, null);
    remember(tab, WHO, null);
  }

  function fill() {
    const draft = recall(device, DRAFT);
    if (!draft || !draft.typed || Date.now() - draft.at > LONGEST) {
      forget();
      return;
    }
    const who = recall(tab, WHO);
    const typed = Object.assign({}, draft.typed, who || {});
    fields().forEach(function (field) {
      const values = typed[field.name];
      if (values && isChoice(field)) {
        field.checked = values.includes(field.value);
      } else if (values) {
        field.value = values[0];
      }
    });
    // The same form as before: sent a second time, it is the same report.
    form.elements.once.value = draft.once;
    form.dataset.step = draft.step;
    const place = form.elements.lat.closest("details");
    place.open = place.open || Boolean(form.elements.lat.value || form.elements.lon.value);
    one("draft-found").hidden = false;
    one("draft-note").hidden = true; // both offer to clear it; once is enough
    one("draft-photos").hidden = !draft.photos;
    one("draft-who").hidden = !draft.named || Boolean(who);
  }

  function mayBeSentAgain() {
    sending = false;
    delete form.dataset.sent;
  }

  function hasNoSignal() {
    mayBeSentAgain();
    offline.hidden = false;
    said.textContent = said.dataset[waits ? "saysWaiting" : "saysOffline"];
  }

  function filled() {
    const data = new FormData(form);
    if (pressed && pressed.name) {
      data.append(pressed.name, pressed.value);
    }
    return data;
  }

  // The page that came as an answer takes the place of this one: to ask for it anew would send every photo a second time.
  async function show(answer) {
    const text = await answer.text();
    if (!(answer.headers.get("content-type") || "").startsWith("text/html")) {
      throw new Error(String(answer.status));
    }
    clearTimeout(timer);
    document.open();
    document.write(text);
    document.close();
    // A browser tells of a page that it went to; of this one the heading tells that takes the focus.
    window.addEventListener("load", function () {
      const heading = document.querySelector("[data-problem] h2") || document.querySelector("h1");
      if (heading) {
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }
      window.scrollTo(0, 0);
    });
  }

  async function send() {
    if (sending) {
      return;
    }
    sending = true;
    keep();
    if (navigator.onLine === false) {
      hasNoSignal();
      return;
    }
    said.textContent = said.dataset.saysSending;
    let answer;
    try {
      answer = await fetch(form.getAttribute("action"), { method: "POST", body: filled(), headers: { Accept: "text/html" } });
    } catch {
      hasNoSignal();
      return;
    }
    clearInterval(waits);
    if (answer.redirected && new URL(answer.url).pathname.startsWith("/status/")) {
      forget();
      location.assign(answer.url);
      return;
    }
    try {
      await show(answer);
    } catch {
      mayBeSentAgain();
      said.textContent = said.dataset.saysFailed;
    }
  }

  form.addEventListener("submit", function (event) {
    const turns = event.submitter && event.submitter.name === "turn";
    if (event.defaultPrevented || turns) {
      keep();
      return;
    }
    event.preventDefault();
    pressed = event.submitter;
    send();
  });
  auto.addEventListener("click", function () {
    clearInterval(waits);
    waits = setInterval(send, AGAIN);
    auto.hidden = true;
    said.textContent = said.dataset.saysWaiting;
  });
  window.addEventListener("online", function () {
    if (waits) {
      send();
    }
  });
  form.addEventListener("step", function (event) {
    step = event.detail;
    soon();
  });
  ["input", "change"].forEach(function (kind) { form.addEventListener(kind, soon); });
  window.addEventListener("pagehide", function () {
    if (!sending) {
      keep();
    }
  });
  document.querySelectorAll("[data-draft-clear]").forEach(function (button) {
    button.addEventListener("click", function () {
      sending = true; // nothing of it is kept any more when the page goes
      forget();
      location.replace(location.pathname);
    });
  });
  // Whoever goes to the page of the report that they sent before has nothing more to send.
  document.querySelectorAll("[data-sent-page]").forEach(function (link) {
    link.addEventListener("click", function () {
      sending = true;
      forget();
    });
  });
  window.addEventListener("pageshow", function (event) { sending = sending && !event.persisted; });
  one("draft-note").hidden = !remember(device, `${DRAFT}-test`, 1);
  remember(device, `${DRAFT}-test`, null);
  if ("fresh" in form.dataset) {
    fill();
  }
})();
