// The public map: the spills of the list beside it, and those of its other pages, as shapes on the ground. Every word on it is in the list too.
"use strict";

(function () {
  // What lies nearer together than this, in pixels, is one sign with a number on it.
  const APART = 64;
  const CLOSE = 16;
  const MOST_ANSWERS = 10;

  const part = document.querySelector("[data-spill-map]");
  if (!part) {
    return;
  }
  const given = part.dataset;
  const canvas = part.querySelector("[data-canvas]");
  const said = part.querySelector("[data-said]");
  const shapes = {};
  part.querySelectorAll("[data-shape]").forEach(function (shape) { shapes[shape.dataset.shape] = shape.innerHTML; });
  let L, map, signs, spills, opened;

  function made(kind, words, inside) {
    const element = document.createElement(kind);
    element.append(words);
    inside.append(element);
    return element;
  }

  function told(properties, inside) {
    const words = properties.words;
    made("strong", words.title, inside);
    made("p", words.place, inside);
    made("p", [words.state, words.amount].join(", "), inside);
    if (words.reached) {
      made("p", given.reached.replace("%(reached)s", words.reached), inside);
    }
    made("p", given.received.replace("%(when)s", words.received), inside);
    if (properties.advisory_url) {
      made("a", words.advisory, made("p", "", inside)).href = new URL(properties.advisory_url).pathname;
    }
    if (document.getElementById(properties.reference)) {
      made("a", given.listed.replace("%(reference)s", properties.reference), made("p", "", inside)).href = `#${properties.reference}`;
    } else {
      made("p", properties.reference, inside);
    }
  }

  function popup(point, found, key) {
    const inside = document.createElement("div");
    inside.tabIndex = -1;
    found.forEach(function (spill) { told(spill.properties, made("div", "", inside)); });
    opened = key;
    const maxWidth = Math.min(260, canvas.clientWidth - 100);
    L.popup({ maxWidth, maxHeight: 260, autoPanPadding: [10, 10], closeButton: true }).setLatLng(point).setContent(inside).openOn(map);
    inside.focus({ preventScroll: true });
  }

  function name(found) {
    if (found.length > 1) {
      return given.many.replace("%(number)s", found.length);
    }
    const words = found[0].properties.words;
    return [words.title, words.place, words.state].concat(found[0].properties.advisory === "in_force" ? [words.advisory] : []).join(", ");
  }

  function icon(found) {
    const warned = found.some(function (spill) { return spill.properties.advisory === "in_force"; });
    const html = found.length > 1 ? `<span>${found.length}</span>` : shapes[found[0].properties.state];
    return L.divIcon({ className: `map-sign${found.length > 1 ? " map-many" : ""}${warned ? " map-warned" : ""}`, html, iconSize: [44, 44] });
  }

  function press(found, point, key) {
    const bounds = L.latLngBounds(found.map(function (spill) { return spill.point; }));
    if (found.length === 1 || map.getZoom() >= map.getMaxZoom() || bounds.getSouthWest().equals(bounds.getNorthEast())) {
      popup(point, found, key);
    } else {
      map.fitBounds(bounds, { maxZoom: map.getMaxZoom(), padding: [40, 40] });
      canvas.focus({ preventScroll: true });
    }
  }

  // Signs are made for what can be seen, so that thousands of spills are a few elements.
  function draw() {
    const zoom = map.getZoom();
    const seen = map.getBounds().pad(0.2);
    // Each spill joins the first sign that it lies near to, or gets one of its own: no two signs lie over each other.
    const groups = [];
    spills.forEach(function (spill) {
      if (seen.contains(spill.point)) {
        const at = map.project(spill.point, zoom);
        const near = groups.find(function (one) { return one.at.distanceTo(at) < APART; });
        if (near) {
          near.found.push(spill);
        } else {
          groups.push({ at, found: [spill], key: spill.properties.reference });
        }
      }
    });
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : undefined;
    signs.clearLayers();
    groups.forEach(function (group) {
      const { found, key } = group;
      const sign = L.marker(found[0].point, { icon: icon(found), title: name(found), alt: name(found), riseOnHover: true }).addTo(signs);
      const element = sign.getElement();
      element.dataset.key = key;
      element.setAttribute("aria-label", name(found));
      sign.on("click", function () { press(found, sign.getLatLng(), key); });
      element.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          press(found, sign.getLatLng(), key);
        }
      });
      if (focused === key) {
        element.focus({ preventScroll: true });
      }
    });
    uncover();
  }

  // What a popup half covers cannot be pressed safely: it waits until the popup is gone.
  function uncover() {
    const box = canvas.querySelector(".leaflet-popup-content-wrapper");
    const over = box ? box.getBoundingClientRect() : null;
    canvas.querySelectorAll(".map-sign").forEach(function (sign) {
      const at = sign.getBoundingClientRect();
      const isUnder = over && at.right > over.left && at.left < over.right && at.bottom > over.top && at.top < over.bottom;
      sign.classList.toggle("map-under", Boolean(isUnder));
    });
  }

  async function fetched() {
    const found = [];
    let query = given.query;
    for (let answers = 0; query !== null && answers < MOST_ANSWERS; answers += 1) {
      const answer = await fetch(`${given.source}?${query}`);
      if (!answer.ok) {
        throw new Error(String(answer.status));
      }
      const body = await answer.json();
      found.push(...body.features);
      query = body.links.length ? new URL(body.links[0].href).search.slice(1) : null;
    }
    return found;
  }

  function linkTheList() {
    document.querySelectorAll("[data-show]").forEach(function (button) {
      const spill = spills.find(function (one) { return one.properties.reference === button.dataset.show; });
      if (!spill) {
        return;
      }
      button.hidden = false;
      button.addEventListener("click", function () {
        part.scrollIntoView({ block: "nearest" });
        map.setView(spill.point, Math.max(map.getZoom(), CLOSE), { animate: false });
        popup(spill.point, [spill], "");
        opened = button;
      });
    });
  }

  function keepFocus() {
    map.on("popupopen", function (event) {
      const close = event.popup.getElement().querySelector(".leaflet-popup-close-button");
      close.setAttribute("aria-label", given.close);
      close.title = given.close;
      uncover();
      event.popup.getElement().addEventListener("keydown", function (pressed) {
        if (pressed.key === "Escape") {
          map.closePopup();
        }
      });
    });
    map.on("popupclose", function () {
      canvas.querySelectorAll(".map-under").forEach(function (sign) { sign.classList.remove("map-under"); });
      const before = opened instanceof Element ? opened : canvas.querySelector(`[data-key="${opened}"]`);
      // Only where the focus was in what is gone; whoever follows a link of it moves on.
      if (!document.activeElement || document.activeElement === document.body || document.activeElement.closest(".leaflet-popup")) {
        (before || canvas).focus({ preventScroll: true });
      }
    });
  }

  async function begin() {
    part.hidden = false;
    document.body.classList.add("map-beside");
    said.textContent = said.dataset.loading;
    try {
      const ground = await import(given.ground);
      const [map_, features] = await Promise.all([ground.openMap(canvas, given), fetched()]);
      L = map_.L;
      map = map_.map;
      spills = features.filter(function (one) { return one.geometry; });
      spills.forEach(function (one) { one.point = L.latLng(one.geometry.coordinates[1], one.geometry.coordinates[0]); });
      signs = L.layerGroup().addTo(map);
      const chosen = map_.cities && given.city ? map_.cities.getLayers().find(function (one) { return one.feature.properties.city === given.city; }) : null;
      map.invalidateSize({ animate: false });
      if (spills.length) {
        ground.showAround(L, map, map_.cities, spills);
      } else if (chosen || map_.cities) {
        ground.showWhole(map, (chosen || map_.cities).getBounds());
      }
      keepFocus();
      map.on("moveend", draw);
      draw();
      linkTheList();
      const without = features.length - spills.length;
      said.textContent = without ? said.dataset.without.replace("%(number)s", without) : "";
      canvas.dataset.ready = "yes";
    } catch {
      said.textContent = said.dataset.failed;
    }
  }

  begin();
})();
