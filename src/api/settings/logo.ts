// The organization's logo, kept by this server.
import { z } from "zod";
import { Download, file, MiB, multipart } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty } from "../fields.ts";

export const LOGO_MAX = MiB;

export const logoModes = ["light", "dark"] as const;
export type LogoMode = (typeof logoModes)[number];

/** The first bytes in hex. Files that may contain scripts, such as SVG images, are none of these. */
const formats = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
] as const;
export type LogoFormat = (typeof formats)[number][0];

/** The media type of an image; null: it cannot be a logo. The first twelve bytes are enough. */
export function logoFormat(content: Uint8Array): LogoFormat | null {
  const start = Array.from(content.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return formats.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
}

const write = { action: "config:write", scope: "global" } as const;
const mode = z.enum([...logoModes, "all"]).meta({ description: "of pages with a light or with a dark background" });
const path = "/logo";

export const logoApi = {
  get: endpoint({
    method: "GET",
    path,
    summary: "Download the organization's logo.",
    access: "none",
    query: z.object({ mode: z.enum(logoModes).default("light") }),
    produces: "image/png",
    response: Download,
  }),
  set: endpoint({
    method: "PUT",
    path,
    summary: "Upload the organization's logo: a PNG, JPEG, GIF or WebP image.",
    access: write,
    query: z.object({ mode: mode.default("all") }),
    body: multipart({}, { logo: file({ limit: LOGO_MAX }) }),
    status: 204,
    response: Empty,
  }),
  delete: endpoint({
    method: "DELETE",
    path,
    summary: "Remove the organization's logo.",
    access: write,
    query: z.object({ mode: mode.default("all") }),
    status: 204,
    response: Empty,
  }),
};
