/** Team names with the same key are considered equal. */
export const nameKey = (name: string): string => name.normalize("NFC").toLowerCase().normalize("NFC");
