/** Whether the content can be shown: signed profiles and binary property lists cannot. */
export const isText = (content: string): boolean => !content.includes("\u0000") && !content.includes("\uFFFD");
