import HealthOperations
import Terminal

extension PartialPull: WordedError {
  var status: ExitStatus { .partial }

  var sentence: String {
    "\(ErrorText.sentence(cause)) \(HumanFormat.count(done.changes, "change")) arrived and are saved."
  }
}

extension VerificationCancelled: WordedError {
  var status: ExitStatus { .interrupted }
  var sentence: String { "Interrupted; the comparison was not finished, and changes nothing." }
}
