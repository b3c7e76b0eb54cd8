import HealthModel

/// `MetadataEntry`, the beats of `HeartRateVariabilityMetadataList`, and attributes that nothing else understands.
extension SampleReader {
  /// The metadata key of an attribute that the model has no place for.
  func attributeKey(_ name: String) -> String { "hpeer.attribute.\(name)" }

  mutating func readMetadataEntry() {
    leafPlace = nil
    guard let (key, value) = metadataEntry() else {
      return append(metadata: unreadable(.metadataEntry, of: "MetadataEntry without a key"))
    }
    append(metadata: [(key, value)])
  }

  private mutating func append(metadata entries: [(key: String, value: String)]) {
    if member != nil {
      member?.metadata += entries
    } else {
      current?.metadata += entries
    }
  }

  /// The element that the scanner is at, as an entry.
  private mutating func unreadable(_ name: ElementName, of parent: String) -> [(key: String, value: String)] {
    var entries: [(key: String, value: String)] = []
    keep(rawElement(name), of: parent, in: &entries)
    return entries
  }

  private mutating func metadataEntry() -> (String, String)? {
    var key: InternedText?
    var value: InternedText?
    var others: [Int] = []
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      if attribute.name == "key", key == nil {
        key = texts.key(attribute.value)
      } else if attribute.name == "value", value == nil {
        value = texts.value(attribute.value)
      } else {
        others.append(index)
      }
    }
    guard let key else { return nil }
    if !others.isEmpty || !scanner.isSelfClosing {
      let earlier = (member ?? current)?.metadata ?? []
      leafPlace = Self.place(ofEntry: key.text, value?.text ?? "", after: earlier)
    }
    for index in others { addUnknown(attribute: index, of: "MetadataEntry", at: leafPlace ?? "") }
    if value == nil { remark("MetadataEntry without a value") }
    remark(key.defects.union(value?.defects ?? []))
    return (key.text, value?.text ?? "")
  }

  /// An attribute of an element that has no metadata itself.
  private mutating func addUnknown(attribute index: Int, of element: String, at place: String) {
    let attribute = scanner.attribute(index)
    var entries: [(key: String, value: String)] = []
    addUnknown("\(place).\(decoded(attribute.name))", decoded(attribute.value), of: element, to: &entries)
    append(metadata: entries)
  }

  mutating func readBeatList() {
    for index in 0..<scanner.attributeCount {
      addUnknown(
        attribute: index, of: "HeartRateVariabilityMetadataList", at: "HeartRateVariabilityMetadataList")
    }
  }

  /// Of the beat that comes next.
  private func placeOfBeat() -> String {
    let beats = (member ?? current)?.beats ?? ""
    return Self.place(
      "InstantaneousBeatsPerMinute", beats.isEmpty ? 1 : beats.utf8.count { $0 == UInt8(ascii: ";") } + 2)
  }

  mutating func readBeat() throws {
    var (bpm, time) = ("", "")
    leafPlace = scanner.isSelfClosing ? nil : placeOfBeat()
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      if attribute.name == "bpm" {
        bpm = decoded(attribute.value)
      } else if attribute.name == "time" {
        time = decoded(attribute.value)
      } else {
        addUnknown(attribute: index, of: "InstantaneousBeatsPerMinute", at: placeOfBeat())
      }
    }
    let length = member?.addBeat(bpm, at: time) ?? current?.addBeat(bpm, at: time) ?? 0
    if length > XMLScanner.maximumTag {
      throw ImportError.tooLarge(what: "a list of heart beats", at: scanner.tokenPosition)
    }
  }

  /// Keeps an attribute that the model has no place for.
  mutating func addUnknown(
    _ name: String, _ value: String, of element: String, to metadata: inout [(key: String, value: String)]
  ) {
    remark("\(element) with an unknown attribute \(name)")
    metadata.append((attributeKey(name), value))
  }

  /// Moves what has been collected into the sample.
  mutating func complete(_ draft: inout Draft) {
    noticeLine = draft.line
    if !draft.beats.isEmpty { addBeats(to: &draft) }
    if !draft.metadata.isEmpty { draft.sample.metadata = metadata(draft.metadata) }
  }

  /// Beats with their times in seconds after the record's start, and what it takes to print them again as they were:
  /// the offset of the clock on the wall and the first time that it showed. Those that fit to no clock, or that this
  /// would not print again as they were, are kept as they came.
  private mutating func addBeats(to draft: inout Draft) {
    let nearest = Int(keys.dates.offset ?? 0)
    guard let clock = BeatClock(draft.beats, start: draft.sample.start, end: draft.sample.end, nearest: nearest) else {
      remark("heart beats at times that fit to no clock")
      draft.metadata.append(("hpeer.beatsPerMinute.wallClock", draft.beats))
      return
    }
    draft.metadata.append(("hpeer.beatsPerMinute", clock.beats))
    draft.metadata.append(("hpeer.beatsUTCOffset", String(clock.offset)))
    draft.metadata.append(("hpeer.beatsFormat", clock.format))
    if !clock.isExact {
      draft.metadata.append(("hpeer.beatsPerMinute.wallClock", draft.beats))
    }
  }

  /// Entries as metadata. An entry that says the same twice is one; another value under the same key becomes `key#2`.
  mutating func metadata(_ entries: [(key: String, value: String)]) -> Metadata {
    var result = Metadata(minimumCapacity: entries.count)
    var repeated: [(key: String, value: String)] = []
    for (key, text) in entries {
      guard let earlier = result.updateValue(.string(text), forKey: key) else { continue }
      result[key] = earlier
      if earlier != .string(text) { repeated.append((key, text)) }
    }
    if repeated.isEmpty { return result }
    var seen: [String: Set<String>] = [:]
    var numbers: [String: Int] = [:]
    for (key, text) in repeated where seen[key, default: []].insert(text).inserted {
      remark("metadata key given twice")
      var number = numbers[key, default: 1] + 1
      while result["\(key)#\(number)"] != nil { number += 1 }
      numbers[key] = number
      result["\(key)#\(number)"] = .string(text)
    }
    return result
  }

  mutating func decoded(_ bytes: Bytes) -> String {
    var defects: TextDefects = []
    let text = XMLText.decode(bytes, defects: &defects)
    remark(defects)
    return text
  }
}

extension Draft {
  /// - Returns: how long the list of beats is now, in bytes.
  fileprivate mutating func addBeat(_ bpm: String, at time: String) -> Int {
    if !beats.isEmpty { beats.append(";") }
    beats.append(bpm)
    beats.append("@")
    beats.append(time)
    return beats.utf8.count
  }
}
