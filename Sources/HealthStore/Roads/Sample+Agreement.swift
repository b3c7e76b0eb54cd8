import HealthModel

extension Sample {
  /// Returns whether this copy of a sample has all the content of another copy, and perhaps more, without any
  /// contradiction.
  func agrees(with other: Sample) -> Bool {
    abs(start.seconds - other.start.seconds) <= 1 && abs(end.seconds - other.end.seconds) <= 1
      && (source.name.isExactly(other.source.name) || other.source.name == SecondReader.noSource)
      && (other.device == nil || device == other.device) && (other.created == nil || created == other.created)
      && other.metadata.allSatisfy { key, value in metadata[key] == value || key.hasPrefix("hpeer.") }
      && payload.agrees(with: other.payload)
  }
}

extension Payload {
  fileprivate func agrees(with other: Payload) -> Bool {
    switch (self, other) {
    case (.quantity(let mine), .quantity(let theirs)): mine.isEquivalent(to: theirs)
    case (.workout(let mine), .workout(let theirs)): mine.agrees(with: theirs)
    default: self == other
    }
  }
}

extension Workout {
  fileprivate func agrees(with other: Workout) -> Bool {
    StatedValue.workout(activityType).isEquivalent(to: .workout(other.activityType))
      && (other.duration.map { abs((duration ?? .infinity) - $0) <= 1 } ?? true)
      && other.totals.allSatisfy { key, total in totals[key]?.isEquivalent(to: total) == true }
      && (other.statistics.isEmpty || statistics == other.statistics)
      && (other.events.isEmpty || events == other.events)
      && (other.activities.isEmpty || activities == other.activities)
  }
}
