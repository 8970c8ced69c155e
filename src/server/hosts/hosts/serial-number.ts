import { serialNumber } from "../../../agent-wire/firmware.ts";

/** Whether the text is a serial number that names one machine: no placeholder, and not one character over and over. */
export const isSerialNumber = (text: string): boolean =>
  serialNumber(text) !== "" &&
  !/^(.)\1*$/.test(
    text
      .trim()
      .toLowerCase()
      .replaceAll(/[\s.-]/g, "") || "0",
  );
