import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  HomeFolders,
  installedPaths,
  isUsual,
  usualPathOf,
} from "../../src/server/software/software/installed-paths.ts";

const path = fc.constantFrom(
  "/usr/lib/left-pad",
  "/home/ada/left-pad",
  "/home/bob/left-pad",
  "/home/ada",
  "/home/adam/left-pad",
  "/Users/ada/left-pad",
  "/root/left-pad",
  "C:\\Users\\ada\\left-pad",
  "C:\\Users\\bob\\left-pad",
  "~/left-pad",
  "~",
  "left-pad",
);

describe("the usual path of a version", () => {
  it("is below any home folder", () => {
    expect(usualPathOf("/home/ada/x/y")).toBe("~/x/y");
    expect(usualPathOf("C:\\Users\\ada\\x")).toBe("~\\x");
    expect(usualPathOf("/opt/x")).toBe("/opt/x");
    expect(usualPathOf(undefined)).toBe("");
  });

  it("never changes what a host shows: what is left out is what is shown", () => {
    fc.assert(
      fc.property(
        fc.option(path, { nil: undefined }),
        fc.array(fc.array(path, { maxLength: 2 }), { maxLength: 4 }),
        fc.string({ maxLength: 5 }),
        (first, reported, before) => {
          const usual = usualPathOf(first);
          const homes = new HomeFolders();
          for (const paths of reported) homes.note(paths[0], usual);
          const home = homes.chosen(before);
          for (const paths of reported)
            expect(installedPaths(isUsual(paths, usual, home) ? undefined : [null, paths], usual, home)).toEqual(paths);
        },
      ),
    );
  });

  it("leaves out the paths of one user, and keeps the home folder while the host has it", () => {
    const homes = new HomeFolders();
    for (const at of ["/home/zoe/x", "/home/ada/x"]) homes.note(at, "~/x");
    expect(homes.chosen("")).toBe("/home/ada");
    expect(homes.chosen("/home/zoe")).toBe("/home/zoe");
    expect(homes.chosen("/home/eve")).toBe("/home/ada");
    expect(isUsual(["/home/zoe/x"], "~/x", "/home/zoe")).toBe(true);
    expect(isUsual(["/home/zoe/x"], "~/x", "/home/ada")).toBe(false);
    expect(new HomeFolders().chosen("/home/eve")).toBe("");
  });
});
