import HealthModel

/// The handler of the electrocardiograms beside the XML, which does not refer to them.
enum ElectrocardiogramHandler {
  private typealias Recording = ElectrocardiogramReader.Recording

  /// Reads all electrocardiogram files.
  ///
  /// - Parameter progress: called before each file; may throw to stop.
  static func read(_ progress: () throws -> Void, _ context: inout ReadingContext) throws {
    let members = context.sideFiles.unread(in: "electrocardiograms", ending: ".csv")
    // The headers show which files have the same time and device.
    var keys = SharedKeys<String>()
    for member in members {
      try progress()
      if let recording = try? recording(member, headerOnly: true, context.sideFiles) { keys.add(key(recording)) }
    }
    for member in members {
      try progress()
      let recording: Recording
      do {
        recording = try self.recording(member, context.sideFiles)
      } catch {
        context.remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
        continue
      }
      remark(recording, in: member, &context)
      context.report.elements["Electrocardiogram", default: 0] += 1
      let sample = sample(of: recording, &context)
      try context.delivery.add(sample, as: .electrocardiogram, isShared: keys.isShared(key(recording)))
      try context.delivery.sendIfDue()
    }
  }

  private static func key(_ recording: Recording) -> String { "\(recording.device)\u{1F}\(recording.recorded)" }

  private static func recording(
    _ member: ExportMember, headerOnly: Bool = false, _ sideFiles: SideFiles
  ) throws -> Recording {
    let source = try sideFiles.source(of: member, limit: ElectrocardiogramReader.maximumBytes)
    defer { source.close() }
    return try ElectrocardiogramReader.read(source, headerOnly: headerOnly)
  }

  private static func remark(_ recording: Recording, in member: ExportMember, _ context: inout ReadingContext) {
    if !recording.hasOffset { context.remark("date without an offset", .nowhere) }
    if recording.hasComma { context.remark("decimal comma", .nowhere) }
    if recording.unreadable.count > 0 {
      context.report.remarks.add("\(member.name): a voltage that cannot be read", recording.unreadable)
    }
    if recording.electrocardiogram.samplingFrequency == nil {
      context.remark("\(member.name): its sample rate is missing", .nowhere)
    }
  }

  private static func sample(of recording: Recording, _ context: inout ReadingContext) -> Sample {
    var length = 0.0
    if let frequency = recording.electrocardiogram.samplingFrequency, frequency > 0 {
      length = Double(recording.electrocardiogram.voltages.count) / frequency * 1_000_000
    }
    let microseconds = Int64(exactly: length.rounded()) ?? 0
    let (end, overflow) = recording.recorded.microseconds.addingReportingOverflow(microseconds)
    // `Watch6,7` is a model; any other text is a name.
    let isModel = recording.device.wholeMatch(of: /[A-Za-z]+[0-9]+,[0-9]+/) != nil
    let device =
      recording.device.isEmpty
      ? nil : Device(name: isModel ? nil : recording.device, hardwareVersion: isModel ? recording.device : nil)
    var entries = MetadataEntries()
    for (label, value) in recording.others {
      context.remark("electrocardiogram with an unknown line", .nowhere)
      entries.append(PreservedKey.attribute(label), value)
    }
    // Identities need a source, and the file names only the device.
    return Sample(
      uuid: .undecided, type: .electrocardiogram, start: recording.recorded,
      end: overflow ? recording.recorded : Timestamp(microseconds: end),
      source: Source(name: recording.device, version: recording.softwareVersion), device: device,
      metadata: entries.metadata(&context), payload: .electrocardiogram(recording.electrocardiogram))
  }
}
