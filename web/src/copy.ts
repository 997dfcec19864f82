// Where the page may not write to the clipboard, or has none as over plain HTTP
// from another machine, it is said.
export function copyText(text: string, say: (what: string) => void, done = "copied"): void {
  const copied = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error());
  copied.then(() => say(done), () => say("the browser did not allow copying"));
}
