/// `1 second`, `5 seconds`: for sentences.
func secondsText(_ count: Int) -> String {
  count == 1 ? "1 second" : "\(count) seconds"
}
