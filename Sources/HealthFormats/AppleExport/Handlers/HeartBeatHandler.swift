import HealthModel

/// The handler of `HeartRateVariabilityMetadataList` and the beats in it.
struct HeartBeatHandler {
  /// The beats of the open record in the form `bpm@time;…`.
  private var beats = ""
  private var count = 0

  func beginList(_ context: inout ReadingContext) {
    let name = "HeartRateVariabilityMetadataList"
    var entries = MetadataEntries()
    for index in 0..<context.scanner.attributeCount {
      let (attribute, value) = context.decodedAttribute(index)
      entries.keep(attribute: "\(name).\(attribute)", value, of: name, &context)
    }
    context.open.append(entries)
  }

  /// Reads a beat.
  ///
  /// - Returns: the place of a beat that may have child elements; `nil` for a self-closing tag.
  mutating func read(_ context: inout ReadingContext) throws -> String? {
    var (bpm, time) = ("", "")
    let place = context.scanner.isSelfClosing ? nil : placeOfNext
    for index in 0..<context.scanner.attributeCount {
      let attribute = context.scanner.attribute(index)
      if attribute.name == "bpm" {
        bpm = context.decoded(attribute.value)
      } else if attribute.name == "time" {
        time = context.decoded(attribute.value)
      } else {
        let (name, value) = context.decodedAttribute(index)
        var entries = MetadataEntries()
        entries.keep(attribute: "\(placeOfNext).\(name)", value, of: "InstantaneousBeatsPerMinute", &context)
        context.open.append(entries)
      }
    }
    add(bpm, at: time)
    if beats.utf8.count > XMLScanner.maximumTag {
      throw ImportError.tooLarge(what: "a list of heart beats", at: context.scanner.tokenPosition)
    }
    return place
  }

  private mutating func add(_ bpm: String, at time: String) {
    count += 1
    if !beats.isEmpty { beats.append(";") }
    beats.append(bpm)
    beats.append("@")
    beats.append(time)
  }

  private var placeOfNext: String {
    PreservedKey.place("InstantaneousBeatsPerMinute", count + 1)
  }

  /// Moves the beats into the metadata of their record.
  ///
  /// The times become seconds after the record's start. The UTC offset of the wall clock and the format of its first
  /// time are kept too, so that the beats can be printed unchanged. Beats whose times fit no UTC offset, or that
  /// could not be printed unchanged, are kept as they are.
  mutating func finish(in draft: inout Draft, _ context: inout ReadingContext) {
    if beats.isEmpty { return }
    defer { (beats, count) = ("", 0) }
    context.noticeLine = draft.line
    let nearest = Int(context.keys.dates.offset ?? 0)
    guard let clock = BeatClock(beats, start: draft.sample.start, end: draft.sample.end, nearest: nearest) else {
      context.remark("heart beats at times that fit to no clock")
      draft.metadata.append("hpeer.beatsPerMinute.wallClock", beats)
      return
    }
    draft.metadata.append("hpeer.beatsPerMinute", clock.beats)
    draft.metadata.append("hpeer.beatsUTCOffset", String(clock.offset))
    draft.metadata.append("hpeer.beatsFormat", clock.format)
    if !clock.isExact { draft.metadata.append("hpeer.beatsPerMinute.wallClock", beats) }
  }
}
