"use strict";
// Lists the calls of the API with Swagger UI. Nothing is asked of any other site (validatorUrl), and a token that was typed in is not kept.
const calls = document.getElementById("calls");
window.SwaggerUIBundle({
  domNode: calls, url: calls.dataset.document, validatorUrl: null, persistAuthorization: false, deepLinking: true, docExpansion: "list",
  // It brings a main part of its own, and a page has one.
  onComplete: function () { for (const part of calls.querySelectorAll("main")) { part.setAttribute("role", "group"); } },
});
