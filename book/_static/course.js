// What jupyterquiz leaves out for readers with a screen reader or a keyboard: feedback is announced, a question's
// options are one group with a name, and the quiz's two-column layout follows the width of the page.
const prepare = (quiz) => {
  if (quiz.dataset.prepared) return;
  const question = quiz.querySelector("[id^=quizQn]");
  const options = quiz.querySelector(".Answer");
  const feedback = quiz.querySelector(".Feedback");
  if (!question || !options || !feedback) return;
  quiz.dataset.prepared = "true";
  options.setAttribute("role", "radiogroup");
  options.setAttribute("aria-labelledby", question.id);
  feedback.setAttribute("role", "status");
  feedback.setAttribute("aria-live", "polite");
};

const prepareAll = () => document.querySelectorAll(".Quiz[id^=quizWrap]").forEach(prepare);

addEventListener("DOMContentLoaded", () => {
  prepareAll();
  // A quiz with its questions in a file of its own arrives later.
  new MutationObserver(prepareAll).observe(document.body, {childList: true, subtree: true});
});

// Paper is white: a page that is read in the dark is printed in the light theme.
matchMedia("print").addEventListener("change", ({matches: printing}) => {
  const root = document.documentElement;
  if (printing) {
    root.dataset.themeOnScreen = root.dataset.theme;
    root.dataset.theme = "light";
  } else if (root.dataset.themeOnScreen) {
    root.dataset.theme = root.dataset.themeOnScreen;
  }
});
