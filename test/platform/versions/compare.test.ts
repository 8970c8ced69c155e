// How versions of each kind of package are compared, from the published rules of these formats.
import { describe, expect, it } from "vitest";
import { compareApk } from "../../../src/server/platform/versions/apk.ts";
import { compareDpkg } from "../../../src/server/platform/versions/dpkg.ts";
import { compareGeneric } from "../../../src/server/platform/versions/generic.ts";
import { comparePep440 } from "../../../src/server/platform/versions/pep440.ts";
import { compareRpm } from "../../../src/server/platform/versions/rpm.ts";
import { compareSemver } from "../../../src/server/platform/versions/semver.ts";

type Compare = (a: string, b: string) => number;

/** Each group has equal versions; later groups are newer than earlier ones. */
function expectOrder(compare: Compare, groups: readonly (readonly string[])[]): void {
  groups.forEach((group, i) => {
    for (const one of group) {
      for (const same of group) expect([one, same, compare(one, same)]).toEqual([one, same, 0]);
      for (const newer of groups.slice(i + 1).flat()) {
        expect([one, newer, compare(one, newer)]).toEqual([one, newer, -1]);
        expect([newer, one, compare(newer, one)]).toEqual([newer, one, 1]);
      }
    }
  });
}

describe("versions of Alpine's packages", () => {
  // From the tests of apk-tools (test/version.data).
  it("have an order of their parts", () => {
    expectOrder(compareApk, [
      ["no version"],
      ["0.1_alpha_pre2"],
      ["0.1_alpha"],
      ["0.1_alpha2"],
      ["0.1_beta"],
      ["0.1_pre"],
      ["0.1_rc1"],
      ["0.1", "0.1-r0"],
      ["0.1-r1"],
      ["0.1_git20240101"],
      ["0.1_p1"],
      ["0.1_p1-r1"],
      ["0.1a"],
      ["0.1b-r3"],
      ["0.1.0.0"],
      ["0.2"],
      ["0.10"],
      ["1.001"],
      ["1.01"],
      ["1.05"],
      ["1.1"],
      ["2.0~1234-r1"],
      ["2.0~2345-r0"],
      ["2.3.0b-r1"],
      ["2.3.0c-r1"],
      ["13"],
    ]);
  });

  it("are those of advisories", () => {
    expect(compareApk("3.3.1-r0", "3.3.1-r1")).toBe(-1);
    expect(compareApk("1.1.1t-r2", "1.1.1u-r0")).toBe(-1);
    expect(compareApk("9.7_p1-r3", "9.7_p1-r4")).toBe(-1);
    expect(compareApk("9.7_p1-r4", "9.8_p1-r0")).toBe(-1);
    expect(compareApk("6.6.31-r0", "6.6.4-r0")).toBe(1);
  });
});

describe("versions of Debian packages", () => {
  it("have an order of their parts", () => {
    expectOrder(compareDpkg, [
      ["1.0~~"],
      ["1.0~~a"],
      ["1.0~"],
      ["1.0~rc1-1"],
      ["1.0", "1.00", "0:1.0"],
      ["1.0-0ubuntu1"],
      ["1.0-1~bpo12+1"],
      ["1.0-1"],
      ["1.0-1ubuntu1"],
      ["1.0-1ubuntu1.2"],
      ["1.0-1ubuntu1.10"],
      // Letters come before other characters.
      ["1.0-1+b1", "1.0-1+b01"],
      ["1.0-1+deb12u1"],
      ["1.0-2"],
      ["1.0a"],
      ["1.0+dfsg-1"],
      ["1.0.1-1"],
      ["1.10-1"],
      ["2.0"],
      ["1:0.1-1"],
      ["2:0.0.1"],
    ]);
  });

  it("are those of advisories", () => {
    expect(compareDpkg("3.0.2-0ubuntu1.10", "3.0.2-0ubuntu1.12")).toBe(-1);
    expect(compareDpkg("5.15.0-91.101", "5.15.0-100.110")).toBe(-1);
    expect(compareDpkg("1:8.9p1-3ubuntu0.6", "1:8.9p1-3ubuntu0.10")).toBe(-1);
    expect(compareDpkg("20230311ubuntu0.22.04.1", "20240203~22.04.1")).toBe(-1);
    expect(compareDpkg("99999999999999999999.1", "99999999999999999999.2")).toBe(-1);
  });
});

describe("versions of RPM packages", () => {
  it("have an order of their segments", () => {
    expectOrder(compareRpm, [
      ["1.0~rc1"],
      ["1.0~rc2"],
      ["1.0", "1.0.", "1_0"],
      ["1.0^"],
      ["1.0^20230101"],
      ["1.0a"],
      ["1.0aa"],
      ["1.0.1", "1.0.01"],
      ["1.1"],
      ["1.10"],
      ["2.0", "2..0"],
      ["5.5p1"],
      ["5.5p10"],
      ["10xyz"],
      ["10.1xyz"],
    ]);
    expect(compareRpm("1.0^git1", "1.0.1")).toBe(-1);
    expect(compareRpm("1.0^git1~pre", "1.0^git1")).toBe(-1);
    expect(compareRpm("2_0", "2.0")).toBe(0);
    expect(compareRpm("xyz.4", "8")).toBe(-1);
  });

  it("have releases, and epochs if both name one", () => {
    expectOrder(compareRpm, [
      ["0:5.14.0-362.8.1.el9_3"],
      ["0:5.14.0-362.13.1.el9_3"],
      ["0:5.14.0-427.el9"],
      ["1:1.1.1k-9.el8_7"],
      ["1:1.1.1k-12.el8_9"],
    ]);
    expect(compareRpm("3.0.7-24.el9", "1:3.0.7-25.el9")).toBe(-1);
    expect(compareRpm("3.0.7-25.el9", "1:3.0.7-25.el9")).toBe(0);
    expect(compareRpm("1.0-5", "1.0")).toBe(0);
  });
});

describe("versions of Python packages (PEP 440)", () => {
  it("have the order of the document's summary", () => {
    expectOrder(comparePep440, [
      ["1.dev0", "1.0.dev0", "1.0.0.dev"],
      ["1.0.dev456"],
      ["1.0a1.dev1"],
      ["1.0a1", "1.0.alpha1", "1.0-ALPHA.1", "v1.0a1"],
      ["1.0a2.dev456"],
      ["1.0a12.dev456"],
      ["1.0a12"],
      ["1.0b1.dev456"],
      ["1.0b2"],
      ["1.0b2.post345.dev456"],
      ["1.0b2.post345"],
      ["1.0rc1.dev456"],
      ["1.0rc1", "1.0c1", "1.0-preview_1"],
      ["1.0", "1", "1.0.0", "v1.0", " 1.0 "],
      ["1.0+abc.5"],
      ["1.0+abc.7"],
      ["1.0+5"],
      ["1.0.post456.dev34"],
      ["1.0.post456", "1.0-456", "1.0.rev456", "1.0-r456"],
      ["1.0.15"],
      ["1.1.dev1"],
      ["1.1"],
      ["1.10"],
      ["2023.7.22"],
      ["1!0.1"],
    ]);
  });

  it("are compared like others if they are none", () => {
    expect(comparePep440("2004d", "2004e")).toBe(-1);
    expect(comparePep440("1.2.3-custom build", "1.2.4")).toBe(-1);
  });
});

describe("versions of npm packages (Semantic Versioning)", () => {
  it("have the order of section 11", () => {
    expectOrder(compareSemver, [
      ["1.0.0-1"],
      ["1.0.0-alpha"],
      ["1.0.0-alpha.1"],
      ["1.0.0-alpha.beta"],
      ["1.0.0-beta"],
      ["1.0.0-beta.2"],
      ["1.0.0-beta.11"],
      ["1.0.0-rc.1"],
      ["1.0.0", "v1.0.0", "1.0.0+build.5", "=1.0.0"],
      ["1.0.1"],
      ["1.2.0"],
      ["1.10.0"],
      ["2.0.0"],
    ]);
  });
});

describe("other versions", () => {
  it("are compared by their numbers, words before a release, and letters after it", () => {
    expectOrder(compareGeneric, [
      ["1.0-dev"],
      ["1.0 alpha 2"],
      ["1.0-beta1", "1.0 Beta 1", "1.0b1"],
      ["1.0-beta.2"],
      ["1.0rc1"],
      ["1.0", "v1.0", "1", "1.0.0", "version 1.0", "1.0 (29101)", "1.0+build4"],
      ["1.0a"],
      ["1.0k"],
      ["1.0.1"],
      ["1.0.2"],
      ["1.0.10"],
      ["1.8.0-update201"],
      ["1.8.0-update202", "1.8.0 update_202"],
      ["9.3p1"],
      ["9.3p2"],
      ["120.0.6099.109"],
      ["120.0.6099.129"],
      ["RELEASE.2023-03-13T19-46-17Z", "2023-03-13t19-46-17z"],
      ["RELEASE.2023-03-20T20-16-18Z", "release-2023-03-20T20-16-18Z"],
      ["2023.003.20269"],
    ]);
  });

  it("of any length take linear time", () => {
    const long = `${"1.".repeat(50_000)}1`;
    expect(compareGeneric(long, `${long}.2`)).toBe(-1);
    expect(compareDpkg("1".repeat(100_000), `${"1".repeat(99_999)}2`)).toBe(-1);
    expect(comparePep440(`${"1".repeat(50_000)}x`, "1")).toBe(1);
  });
});
