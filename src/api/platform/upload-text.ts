// In a form, a text in place of a file stands for the file of an upload session.

export const uploadText = (id: number): string => `upload:${id}`;

/** The session that the text in place of a file stands for, or null. */
export function uploadIn(text: string): number | null {
  const [, id] = /^upload:([1-9]\d{0,14})$/.exec(text) ?? [];
  return id === undefined ? null : Number(id);
}
