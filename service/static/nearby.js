// Says on the form which open reports are near the place, once a place is known. It is only a hint.
"use strict";

(function () {
  const box = document.querySelector("[data-nearby]");
  const lat = document.querySelector("[name=lat]");
  const lon = document.querySelector("[name=lon]");
  if (!box || !lat || !lon) {
    return;
  }
  const list = box.querySelector("ul");
  const said = document.querySelector("[data-nearby-said]");
  let last = "";
  let waits = 0;

  function show(found) {
    list.replaceChildren.apply(list, found.map(function (says) {
      const item = document.createElement("li");
      item.textContent = says;
      return item;
    }));
    box.hidden = !found.length;
    said.textContent = found.length ? said.dataset.nearbySaid : "";
  }

  async function ask() {
    const place = new URLSearchParams({ lat: lat.value, lon: lon.value }).toString();
    if (place === last) {
      return;
    }
    last = place;
    let found = [];
    if (lat.value && lon.value) {
      try {
        const answer = await fetch(box.dataset.nearby + "?" + place, { credentials: "same-origin" });
        found = answer.ok ? (await answer.json()).found : [];
      } catch {
        found = [];
      }
    }
    if (place === last) { // the pin was not moved meanwhile
      show(found);
    }
  }

  function soon() {
    clearTimeout(waits);
    waits = setTimeout(ask, 600);
  }

  [lat, lon].forEach(function (field) { field.addEventListener("change", soon); });
  if (lat.value && lon.value) {
    soon();
  }
})();
