// Keys of versions sort as the versions do, by the rules of each package system.
import fc from "fast-check";
import { compare } from "semver";
import { describe, expect, it } from "vitest";
import { apkKey, compareApk } from "../../../src/server/platform/versions/apk.ts";
import { compareDpkg, dpkgKey } from "../../../src/server/platform/versions/dpkg.ts";
import { compareGeneric, genericKey } from "../../../src/server/platform/versions/generic.ts";
import { keysOfVersion, systemVersionKey, versionKey } from "../../../src/server/platform/versions/ordering.ts";
import { pacmanKey } from "../../../src/server/platform/versions/pacman.ts";
import { pep440Key } from "../../../src/server/platform/versions/pep440.ts";
import { compareRpm, rpmKey } from "../../../src/server/platform/versions/rpm.ts";
import { semverKey } from "../../../src/server/platform/versions/semver.ts";
import { amount } from "../../support/engines.ts";

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Texts of these parts, of which some are versions. */
const textOf = (...parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 }).map((some) => some.join(""));
const numbers = ["0", "00", "1", "01", "2", "9", "10", "20240203", "99999999999999999999", "100000000000000000000"];
const anyText = fc.string({ unit: fc.constantFrom(..."0123456789.-_~^+:abzAZ!()é "), maxLength: 12 });

const rules = [
  ["Debian", compareDpkg, dpkgKey, textOf(...numbers, ".", "-", "~", "~~", "+", ":", "a", "Z", "ubuntu", "é", "")],
  // Without epochs and with a release, as inventories have them.
  [
    "RPM",
    compareRpm,
    rpmKey,
    fc
      .tuple(textOf(...numbers, ".", "_", "~", "^", "a", "aa", "rc"), textOf(...numbers, ".", "~", "^", "el", "a"))
      .map(([version, release]) => `${version}-${release}`),
  ],
  [
    "Alpine",
    compareApk,
    apkKey,
    textOf(...numbers, ".", ".0", "_alpha", "_p", "_rc1", "~ab1", "-r1", "-r10", "a", "z"),
  ],
  [
    "other",
    compareGeneric,
    genericKey,
    textOf(...numbers, ".", ".0", "-", "beta", "rc1", "a", "k", "p", " (1)", "+b", "v"),
  ],
] as const;

describe.each(rules)("keys of %s versions", (_, compare, keyOf, versions) => {
  const version = fc.oneof({ weight: 5, arbitrary: versions }, anyText);

  it("sort as the versions are compared", () => {
    const isRpm = compare === compareRpm;
    fc.assert(
      fc.property(isRpm ? versions : version, isRpm ? versions : version, (a, b) => {
        expect([a, b, compareTexts(keyOf(a), keyOf(b))]).toEqual([a, b, compare(a, b)]);
      }),
      { numRuns: amount(3_000, 30_000) },
    );
  });

  it("are of a total order", () => {
    fc.assert(
      fc.property(versions, versions, versions, (a, b, c) => {
        expect(compare(a, a)).toBe(0);
        expect(compare(a, b) + compare(b, a)).toBe(0);
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect([a, b, c, compare(a, c) <= 0]).toEqual([a, b, c, true]);
      }),
      { numRuns: amount(2_000, 20_000) },
    );
  });
});

const order = (...differences: number[]): number => Math.sign(differences.find((difference) => difference !== 0) ?? 0);
/** Compares the elements one by one; a missing one is before all others. */
const compareLists = <T>(a: readonly T[], b: readonly T[], compare: (x: T, y: T) => number): number =>
  order(...a.slice(0, b.length).map((x, i) => compare(x, b[i]!)), a.length - b.length);
const small = fc.constantFrom(0, 1, 2, 9, 10, 99, 20_240_203);

describe("keys of Python's versions", () => {
  it("sort by epoch, release, candidate, revision and development release", () => {
    const version = fc.record({
      epoch: small,
      release: fc.array(small, { minLength: 1, maxLength: 4 }),
      pre: fc.option(fc.tuple(fc.nat(2), small), { nil: null }),
      post: fc.option(small, { nil: -1 }),
      dev: fc.option(small, { nil: Number.MAX_SAFE_INTEGER }),
    });
    type Version = typeof version extends fc.Arbitrary<infer V> ? V : never;
    const isDevOnly = ({ pre, post, dev }: Version) => pre === null && post < 0 && dev < Number.MAX_SAFE_INTEGER;
    const preOf = (one: Version) => one.pre ?? [isDevOnly(one) ? -1 : 3, 0];
    const releaseOf = ({ release }: Version) => [...release, 0, 0, 0].slice(0, 4);
    const textOf = ({ epoch, release, pre, post, dev }: Version) =>
      [
        epoch === 0 ? "" : `${epoch}!`,
        release.join("."),
        pre === null ? "" : `${["a", "b", "rc"][pre[0]]}${pre[1]}`,
        post < 0 ? "" : `.post${post}`,
        dev < Number.MAX_SAFE_INTEGER ? `.dev${dev}` : "",
      ].join("");
    const byNumber = (x: number, y: number) => x - y;
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = order(
          a.epoch - b.epoch,
          compareLists(releaseOf(a), releaseOf(b), byNumber),
          compareLists(preOf(a), preOf(b), byNumber),
          a.post - b.post,
          a.dev - b.dev,
        );
        const texts = [textOf(a), textOf(b)] as const;
        expect([...texts, compareTexts(pep440Key(texts[0]), pep440Key(texts[1]))]).toEqual([...texts, expected]);
      }),
      { numRuns: amount(3_000, 30_000) },
    );
  });

  it("compare the beginning of texts that are no versions", () => {
    const inOrder = ["unknown", "1.2.3.dev1", "1.2.3", "1.2.3-custom build", "1.2.3.post1", "1.2.4", "1.10 x"].map(
      pep440Key,
    );
    expect(inOrder.toSorted(compareTexts)).toEqual(inOrder);
  });
});

describe("keys of npm's versions", () => {
  it("sort by numbers, then by the identifiers of what is not released yet", () => {
    const identifier = fc.oneof(small, fc.constantFrom("alpha", "beta", "rc", "x-1", "0a"));
    const version = fc.tuple(
      fc.array(small, { minLength: 3, maxLength: 3 }),
      fc.option(fc.array(identifier, { minLength: 1, maxLength: 3 }), { nil: null }),
    );
    fc.assert(
      fc.property(version, version, ([a, preA], [b, preB]) => {
        const texts = [
          [a, preA],
          [b, preB],
        ].map(([core, pre]) => core!.join(".") + (pre === null ? "" : `-${pre!.join(".")}`)) as [string, string];
        expect([...texts, compareTexts(semverKey(texts[0]), semverKey(texts[1]))]).toEqual([
          ...texts,
          compare(...texts),
        ]);
      }),
      { numRuns: amount(3_000, 30_000) },
    );
  });

  it("compare the numbers of texts that are no versions", () => {
    const inOrder = ["latest", "1.2.3-rc.1", "1.2.3", "1.2.3_custom", "1.2.4", "1.10.0"].map(semverKey);
    expect(inOrder.toSorted(compareTexts)).toEqual(inOrder);
    expect(semverKey("v1.2+build")).toBe(semverKey("1.2.0"));
  });
});

describe("other versions", () => {
  it("with words have an order without circles", () => {
    const inOrder = ["1.0-beta", "1", "1a", "1.0.1"];
    for (let i = 0; i < inOrder.length; i++)
      for (let j = i + 1; j < inOrder.length; j++) expect(compareGeneric(inOrder[i]!, inOrder[j]!)).toBe(-1);
  });
});

describe("keys of Arch Linux's versions", () => {
  // From the tests of pacman (test/util/vercmptest.sh).
  it("sort as vercmp", () => {
    const pairs: [string, string, number][] = [
      ["1.5.0", "1.5.0", 0],
      ["1.5.1", "1.5.0", 1],
      ["1.5.1", "1.5", 1],
      ["1.5.0-1", "1.5.0-2", -1],
      ["1.5.0-1", "1.5.1-1", -1],
      ["1.5-1", "1.5.1-1", -1],
      ["1.5b-1", "1.5-1", -1],
      ["1.5b", "1.5", -1],
      ["1.5b", "1.5.1", -1],
      ["1.0a", "1.0alpha", -1],
      ["1.0alpha", "1.0b", -1],
      ["1.0b", "1.0beta", -1],
      ["1.0beta", "1.0rc", -1],
      ["1.0rc", "1.0", -1],
      ["1.5.a", "1.5", 1],
      ["1.5.b", "1.5.a", 1],
      ["1.5.1", "1.5.b", 1],
      ["1.5", "1.5.1", -1],
      ["2.0", "2_0", 0],
      ["2.0_a", "2_0.a", 0],
      ["2.0a", "2.0.a", -1],
      ["2___a", "2_a", 1],
      ["0:1.0", "0:1.0", 0],
      ["0:1.0", "0:1.1", -1],
      ["1:1.0", "0:1.0", 1],
      ["1:1.0", "0:1.1", 1],
      ["1:1.0", "2:1.1", -1],
      ["1:1.0", "0:1.0-1", 1],
      ["1:1.0-1", "0:1.1-1", 1],
      ["0:1.0", "1.0", 0],
      ["0:1.0", "1.1", -1],
      ["0:1.1", "1.0", 1],
      ["1:1.0", "1.0", 1],
      ["1:1.0", "1.1", 1],
      ["1:1.1", "1.1", 1],
    ];
    for (const [a, b, order] of pairs) {
      expect([a, b, compareTexts(pacmanKey(a), pacmanKey(b))]).toEqual([a, b, order]);
      expect([b, a, compareTexts(pacmanKey(b), pacmanKey(a)) + order]).toEqual([b, a, 0]);
    }
  });
});

describe("stored keys", () => {
  const sources = ["apk_packages", "deb_packages", "npm_packages", "pacman_packages", "python_packages", "apps"];

  it("of a source are between the limits of its rules, and of no others", () => {
    for (const source of [...sources, "rpm_packages"])
      expect(
        keysOfVersion("3.0").filter(({ start, end }) => within(versionKey(source, "3.0.1"), start, end)),
      ).toHaveLength(1);
  });

  it("are equal to a version without a release, whatever the release is", () => {
    for (const source of ["rpm_packages", "pacman_packages"]) {
      const [keys] = keysOfVersion("3.0.20").filter(({ start, end }) => within(versionKey(source, "1"), start, end));
      for (const release of ["", "1.el9", "99"]) {
        const key = versionKey(source, "3.0.20", release);
        expect([source, release, key >= keys!.from && key <= keys!.to]).toEqual([source, release, true]);
      }
      expect(versionKey(source, "3.0.20.1", "1") > keys!.to).toBe(true);
      expect(versionKey(source, "3.0.3", "1") < keys!.from).toBe(true);
    }
  });

  it("are empty for unknown versions, and fit into an index for all others", () => {
    expect(versionKey("apps", " ")).toBe("");
    for (const source of [...sources, "rpm_packages"])
      for (const text of [
        "1a".repeat(128),
        "9".repeat(255),
        "é".repeat(255),
        "1.".repeat(127),
        "~^".repeat(127),
        "😀".repeat(127),
      ])
        expect(Buffer.byteLength(versionKey(source, text.slice(0, 255)))).toBeLessThan(2_600);
  });

  it("of systems leave out what follows the version", () => {
    expect(systemVersionKey("22.04.3 LTS")).toBe(systemVersionKey("22.04.3"));
    expect(systemVersionKey("14.5") < systemVersionKey("14.10")).toBe(true);
    expect(systemVersionKey("")).toBe("");
  });
});

const within = (key: string, start: string, end: string): boolean => key >= start && key < end;
