/** Everything works without it: it only brings forth the buttons that copy. */
export const script = `for (const button of document.querySelectorAll("button[data-copy]")) {
  const from = document.getElementById(button.dataset.copy);
  if (!from || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(from.textContent.trim());
    const said = document.getElementById(button.dataset.said);
    if (said) said.textContent = "Copied.";
  });
}
`;
