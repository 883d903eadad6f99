// Shows the photos that were chosen, before they are sent. The field works without it.
"use strict";

(function () {
  const SMALL = 160;

  function filled(text, name) {
    return text.replace("%(name)s", name).replace("%(count)s", name);
  }

  // Drawn, not linked: a picture from a blob: address would need a wider content policy for the whole page.
  function draw(file, item, tooMany) {
    if (!window.createImageBitmap) {
      return;
    }
    createImageBitmap(file).then(function (picture) {
      tooMany(picture.width * picture.height);
      const scale = Math.min(1, SMALL / Math.max(picture.width, picture.height));
      const canvas = document.createElement("canvas");
      canvas.width = Math.max(1, Math.round(picture.width * scale));
      canvas.height = Math.max(1, Math.round(picture.height * scale));
      canvas.setAttribute("aria-hidden", "true");
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      picture.close();
      item.prepend(canvas);
    }).catch(function () { /* this browser does not know the kind: the name stands alone */ });
  }

  function line(list, words) {
    const item = document.createElement("li");
    item.className = "photo";
    const said = document.createElement("p");
    said.className = "photo-name";
    said.textContent = words;
    item.append(said);
    list.append(item);
    return item;
  }

  function show(field) {
    const part = document.getElementById(field.dataset.photos);
    const list = part.querySelector("ul");
    const files = Array.from(field.files);
    const said = [];
    const status = part.querySelector("[role=status]");
    function tell() {
      status.textContent = [filled(field.dataset.saysCount, String(files.length)), ...said].join(" ");
    }
    list.replaceChildren();
    files.slice(0, Number(field.dataset.most)).forEach(function (file) {
      const picture = file.type.startsWith("image/") || /\.hei[cf]$/i.test(file.name);
      const large = file.size > Number(field.dataset.largest);
      if (!picture || large) {
        said.push(filled(large ? field.dataset.saysLarge : field.dataset.saysKind, file.name));
      }
      const item = line(list, file.name);
      if (picture && !large) {
        draw(file, item, function (pixels) {
          if (pixels > Number(field.dataset.pixels)) {
            said.push(filled(field.dataset.saysPixels, file.name));
            tell();
          }
        });
      }
    });
    if (files.length > Number(field.dataset.most)) {
      said.push(field.dataset.saysMany);
    }
    part.hidden = files.length === 0;
    tell();
  }

  document.querySelectorAll("[data-photos]").forEach(function (field) {
    field.addEventListener("change", function () { show(field); });
    if (field.files.length) {
      show(field);
    }
  });
})();
