/** Zero-width, format and control characters: texts that differ only in these look the same. Spaces are not among them. */
const INVISIBLE = /[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;

export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, "");
