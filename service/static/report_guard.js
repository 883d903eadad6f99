// Where many reports came from one address, the form proves that a browser sends it. Without this script the report is kept all the same.
"use strict";

(function () {
  const field = document.querySelector("[data-proof]");
  const form = field && field.form;
  // Without a secure page a browser derives no keys.
  if (!form || !window.Worker || !window.crypto || !crypto.subtle) {
    return;
  }
  const said = document.querySelector("[data-proof-said]");
  const LONGEST_WAIT = 30000;
  let proving = null;

  function solved(challenge) {
    return new Promise(function (resolve) {
      const worker = new Worker(field.dataset.worker);
      function end(payload) {
        worker.terminate();
        resolve(payload);
      }
      worker.addEventListener("message", function (event) { end(event.data); });
      worker.addEventListener("error", function () { end(""); });
      setTimeout(end, LONGEST_WAIT, "");
      worker.postMessage(challenge);
    });
  }

  // Never fails: with nothing in the field the report goes out as it is.
  async function prove() {
    try {
      const answer = await fetch(field.dataset.proof, { credentials: "same-origin", signal: AbortSignal.timeout(10000) });
      const challenge = answer.ok ? (await answer.json()).challenge : null;
      field.value = challenge ? await solved(challenge) : "";
    } catch {
      field.value = "";
    }
  }

  // Asked for once somebody begins to fill the form in, so that it is done long before the button is pressed.
  function begin() {
    if (!proving) {
      proving = prove().then(function () { proving.done = true; });
    }
    return proving;
  }

  form.addEventListener("input", begin);
  form.addEventListener("focusin", begin);
  // Before the form counts as sent: what is put off here is sent again by us.
  form.addEventListener("submit", function (event) {
    if (begin().done) {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    said.textContent = said.dataset.proofSaid;
    const button = event.submitter;
    proving.then(function () {
      said.textContent = "";
      form.requestSubmit(button && button.form === form ? button : undefined);
    });
  }, true);
  // A page that comes back from the browser's memory proves anew: each proof is good for one report.
  window.addEventListener("pageshow", function (event) {
    if (event.persisted) {
      field.value = "";
      proving = null;
    }
  });
})();
