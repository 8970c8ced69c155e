// The organization's logo, kept by this server.
import { z } from "zod";
import { Download, file, MiB, multipart } from "./bodies.ts";
import { endpoint } from "./endpoint.ts";
import { Empty } from "./fields.ts";

export const LOGO_MAX = MiB;

export const logoModes = ["light", "dark"] as const;
export type LogoMode = (typeof logoModes)[number];

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
