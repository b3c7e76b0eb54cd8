import HealthOperations

extension ImportRefusal: WordedError {
  var status: ExitStatus {
    switch self {
    case .noSnapshot: .usage
    case .anotherPerson, .snapshotOfAnotherPerson, .severalPersons, .changedMeanwhile: .badInput
    }
  }

  var sentence: String {
    switch self {
    case .noSnapshot(let file): "\(file) is no Apple Health export, and only those are snapshots of all there is."
    case .anotherPerson(let contradiction):
      "This file says \(PersonText.differences(contradiction)), so it seems to be another person's, and nothing was changed; "
        + "if it is the same person's, give --merge-person once, else import it into a store of its own with --home DIR."
    case .snapshotOfAnotherPerson:
      "This export is of a person with another date of birth or sex than earlier ones, so nothing was changed; "
        + "leave --snapshot out to add what it holds, or give --force if it is the same person."
    case .severalPersons(let file, let exports, let places, let difference):
      "\(file) holds \(exports) exports, of which \(places.joined(separator: " and ")) do not agree on the person's "
        + "\(difference), so nothing was imported; unpack it and import what is yours."
    case .changedMeanwhile:
      "This file says now that it is another person's than it said a moment ago, so no more of it was imported: wait until nothing writes into it any more, then import it again."
    }
  }
}
