// The pages of the console that pictures are made of.
import { consolePaths } from "../../../src/console/routes.ts";

/** Examples of pages whose paths have parameters; null: a path that another one covers, or that shows what is never alike. */
const examples: Readonly<Record<string, string | null>> = {
  "/hosts/:id": "/hosts/1",
  "/hosts/:id/:tab": null,
  "/software/titles/:id": "/software/titles/1",
  "/vulnerabilities/:cve": "/vulnerabilities/CVE-2026-1001",
  // The address of a profile contains a random identifier.
  "/controls/profiles/:uuid": null,
  "/policies/:id": "/policies/1",
  "/queries/:id": "/queries/1",
  // Rows of a live query arrive while one looks.
  "/queries/live/:id": null,
  // The sections are found by their navigation.
  "/settings/:section": null,
  "/settings/:section/:id": "/settings/users/2",
};

/** Paths with parameters that have no example. */
export const withoutExample = consolePaths.filter((path) => path.includes(":") && !Object.hasOwn(examples, path));

/** The paths of pictures, without the sections of the settings. */
export const picturePaths: readonly string[] = consolePaths.flatMap((path) => {
  if (!path.includes(":")) return [path];
  const example = examples[path] ?? null;
  return example === null ? [] : [example];
});

export const widths = { desk: { width: 1280, height: 1000 }, phone: { width: 360, height: 1200 } } as const;
export const schemes = ["light", "dark"] as const;
export type Scheme = (typeof schemes)[number];
export type Device = keyof typeof widths;

/** The pictures of docs/console.md: the file, the view, and how it is looked at. */
export const docsPictures: readonly { file: string; view: string; device: Device; scheme: Scheme }[] = [
  { file: "dashboard", view: "/", device: "desk", scheme: "light" },
  { file: "hosts", view: "/hosts", device: "desk", scheme: "light" },
  { file: "host", view: "/hosts/1", device: "desk", scheme: "light" },
  { file: "software", view: "/software", device: "desk", scheme: "dark" },
  { file: "policies", view: "/policies", device: "desk", scheme: "light" },
  { file: "live-query", view: "/queries/live/new", device: "desk", scheme: "dark" },
  { file: "settings", view: "/settings/device-management", device: "desk", scheme: "light" },
  { file: "hosts-phone", view: "/hosts", device: "phone", scheme: "light" },
];
