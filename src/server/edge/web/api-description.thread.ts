// Builds the description of the API for `api-description.ts`.
import { openApiDocument } from "../../../api/openapi.ts";
import { serveThread } from "../../platform/core/concurrency/thread-side.ts";
import { docsPage } from "./pages/docs-page.ts";

const methods = {
  describe(version: string) {
    const document = JSON.stringify(openApiDocument(version));
    const { html, css } = docsPage(JSON.parse(document));
    const bytes = (text: string) => new TextEncoder().encode(text);
    return { document: bytes(document), html: bytes(html), css: bytes(css) };
  },
};

export type DescriptionThread = typeof methods;

serveThread({ methods });
