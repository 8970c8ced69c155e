import { expect, it } from "vitest";
import { binarySizeText } from "../../src/text/size.ts";

it.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1000, "1000 bytes"],
  [1023, "1023 bytes"],
  [1024, "1.0 KiB"],
  [3990, "3.9 KiB"],
  [1024 ** 2 - 1, "1.0 MiB"],
  [10.5 * 1024 ** 2, "10.5 MiB"],
  [1024 ** 3 - 1, "1.0 GiB"],
  [3 * 1024 ** 4, "3072.0 GiB"],
])("%i bytes are written as %s", (bytes, text) => {
  expect(binarySizeText(bytes)).toBe(text);
});
