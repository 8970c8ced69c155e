// Static files of the pages. Their names contain a hash of the content, so that browsers may cache them forever.
import { createHash } from "node:crypto";
import { style } from "./style.ts";

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function asset(name: string, extension: string, type: string, text: string): Asset {
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 12);
  return { path: `/assets/${name}.${hash}.${extension}`, type, text };
}

export const styleAsset = asset("svc", "css", "text/css; charset=utf-8", style);
export const assets: readonly Asset[] = [styleAsset];

export const assetResponse = ({ type, text }: Asset): Response =>
  new Response(text, {
    headers: {
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    },
  });
