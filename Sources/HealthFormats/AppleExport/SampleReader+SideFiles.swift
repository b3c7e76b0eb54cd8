import Foundation
import HealthModel

/// What lies beside the XML and is not named in it.
extension SampleReader {
  /// - Parameter progress: called before each file; may throw to stop.
  mutating func readSideFiles(_ progress: () throws -> Void, into queue: BatchQueue<ReadBatch>) throws {
    try readElectrocardiograms(progress, into: queue)
    try readOtherTracks(progress, into: queue)
  }

  private mutating func readElectrocardiograms(_ progress: () throws -> Void, into queue: BatchQueue<ReadBatch>) throws
  {
    let members = sideFiles.unread(in: "electrocardiograms", ending: ".csv")
    // Which of them are of one moment and device shows in their first lines.
    var keys: [String: Int] = [:]
    func key(_ recording: ElectrocardiogramReader.Recording) -> String {
      "\(recording.device)\u{1F}\(recording.recorded)"
    }
    for member in members {
      try progress()
      if let recording = try? recording(member, headerOnly: true) { keys[key(recording), default: 0] += 1 }
    }
    for member in members {
      try progress()
      let recording: ElectrocardiogramReader.Recording
      do {
        recording = try self.recording(member)
      } catch {
        remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
        continue
      }
      if !recording.hasOffset { remark("date without an offset", .nowhere) }
      if recording.hasComma { remark("decimal comma", .nowhere) }
      if recording.unreadable.count > 0 {
        report.remarks.add("\(member.name): a voltage that cannot be read", recording.unreadable)
      }
      if recording.electrocardiogram.samplingFrequency == nil {
        remark("\(member.name): its sample rate is missing", .nowhere)
      }
      report.elements["Electrocardiogram", default: 0] += 1
      let sample = sample(of: recording)
      try emit(
        sample, kind: .other(name: "Electrocardiogram", identifier: nil), isSuspect: keys[key(recording)] ?? 0 > 1)
      try sendIfDue(to: queue)
    }
  }

  private func recording(
    _ member: ExportMember, headerOnly: Bool = false
  ) throws -> ElectrocardiogramReader.Recording {
    let source = try sideFiles.source(of: member, limit: ElectrocardiogramReader.maximumBytes)
    defer { source.close() }
    return try ElectrocardiogramReader.read(source, headerOnly: headerOnly)
  }

  private mutating func sample(of recording: ElectrocardiogramReader.Recording) -> Sample {
    var length = 0.0
    if let frequency = recording.electrocardiogram.samplingFrequency, frequency > 0 {
      length = Double(recording.electrocardiogram.voltages.count) / frequency * 1_000_000
    }
    let microseconds = Int64(exactly: length.rounded()) ?? 0
    let (end, overflow) = recording.recorded.microseconds.addingReportingOverflow(microseconds)
    // `Watch6,7` is a model; anything else is a name.
    let isModel = recording.device.wholeMatch(of: /[A-Za-z]+[0-9]+,[0-9]+/) != nil
    let device =
      recording.device.isEmpty
      ? nil : Device(name: isModel ? nil : recording.device, hardwareVersion: isModel ? recording.device : nil)
    // A source is what identities are made of, and the file names none but the device.
    return Sample(
      uuid: Self.noIdentity, type: .electrocardiogram, start: recording.recorded,
      end: overflow ? recording.recorded : Timestamp(microseconds: end),
      source: Source(name: recording.device, version: recording.softwareVersion), device: device,
      metadata: metadata(
        recording.others.map { label, value in
          remark("electrocardiogram with an unknown line", .nowhere)
          return (attributeKey(label), value)
        }), payload: .electrocardiogram(recording.electrocardiogram))
  }

  // MARK: Files that elements name

  /// The FHIR resource that a clinical record names; `nil`, and remarked, where it is not to be had.
  mutating func resource(_ path: String) -> JSONValue? {
    guard let member = sideFiles.member(path) else {
      remark("ClinicalRecord whose file is missing")
      return nil
    }
    do {
      let bytes = try sideFiles.content(of: member, limit: ClinicalResource.maximumBytes)
      let (resource, isJSON) = ClinicalResource.read(bytes)
      if !isJSON { remark("\(member.name): it is no JSON", .nowhere) }
      return resource
    } catch {
      remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
      return nil
    }
  }

  /// An attachment with its file, where one bears its identifier as a name.
  ///
  /// - Parameter room: in bytes, less what the file takes.
  mutating func attachment(_ identifier: String?, room: inout Int64) -> PrescriptionAttachment {
    var attachment = PrescriptionAttachment(identifier: identifier)
    guard let identifier, identifier.utf8.count >= 8 else { return attachment }
    let members = sideFiles.members(containing: identifier)
    guard let member = members.first, members.count == 1 else { return attachment }
    attachment.path = "/\(member.name)"
    do {
      let content = try sideFiles.content(of: member, limit: min(room, Self.maximumAttachment))
      room -= Int64(content.count)
      attachment.content = Data(content)
    } catch {
      remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
    }
    return attachment
  }

  /// In bytes.
  private static let maximumAttachment: Int64 = 8 << 20
  /// Of one sample, in bytes; in Base64 four thirds of them, which is what a payload may have.
  static let maximumAttachments: Int64 = 16 << 20
}
