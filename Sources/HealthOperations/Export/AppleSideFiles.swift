import Foundation
import HealthFormats
import HealthModel
import HealthStore

/// A writer of the files beside the XML of an Apple Health export, which also tells their paths for the XML.
struct AppleSideFiles {
  private let exporting: Exporting
  private let archive: AppleArchive
  private let tracks: AppleTrackWriter
  private let cardiograms: ElectrocardiogramWriter
  private let exported: Timestamp
  private let offset: Int
  private var names = AppleFileNames()
  /// The hash of each file's content by its path, so that samples which share a file keep sharing it.
  private var contents: [String: Int] = [:]
  /// The new paths of samples whose own path was not free.
  private var paths: [SampleReference: String] = [:]
  /// The counts of electrocardiograms and of routes without a workout, which the XML does not contain.
  private(set) var summary = ExportSummary()
  /// The number of routes without a workout in ``summary``.
  private(set) var orphans = 0

  init(_ exporting: Exporting, _ archive: AppleArchive, exported: Timestamp, offset: Int) {
    self.exporting = exporting
    self.archive = archive
    self.exported = exported
    self.offset = offset
    tracks = AppleTrackWriter(exported: exported)
    cardiograms = ElectrocardiogramWriter(offset: offset)
  }

  private var reader: StoredSampleReader { exporting.reader }

  /// Writes all files.
  ///
  /// - Parameter routes: the routes of each workout.
  mutating func write(_ routes: [SampleReference: [SampleReference]]) async throws {
    for type in exporting.plan.types {
      switch try await reader.first(of: type)?.payload {
      case .electrocardiogram: try await writeCardiograms(of: type)
      case .clinicalRecord, .visionPrescription: try await writeDocuments(of: type)
      default: break
      }
    }
    for (workout, routes) in routes.sorted(by: {
      ($0.key.start, $0.key.uuid.uuidString) < ($1.key.start, $1.key.uuid.uuidString)
    }) {
      // A workout that is not exported is not in the XML, and so its routes are not, either.
      guard let sample = try await reader.store.samples.sample(workout), reader.filter.passes(sample) else { continue }
      try await write(routes: routes)
    }
    if reader.filter.passes(.workoutRoute) {
      let all = try await reader.store.samples.routes(in: reader.filter.range, from: reader.filter.sources)
      try await write(routes: all.filter { $0.workout == nil }.map(\.route), areOrphans: true)
    }
  }

  /// Returns the sample with the path of the file that was written, for the XML.
  func named(_ sample: Sample) -> Sample {
    guard let path = paths[sample.reference] else { return sample }
    var sample = sample
    switch sample.payload {
    case .workoutRoute(var route):
      route.path = path
      sample.payload = .workoutRoute(route)
    case .clinicalRecord(var record):
      record.path = path
      sample.payload = .clinicalRecord(record)
    default: break
    }
    return sample
  }

  // MARK: Routes

  /// Writes the routes of a workout, or routes without a workout. The parts of a divided route follow each other.
  private mutating func write(routes: [SampleReference], areOrphans: Bool = false) async throws {
    var bytes: [UInt8] = []
    var last: Sample?
    var others: [String] = []
    // False while the file of the route was already written with another sample.
    var isOpen = false
    for reference in routes {
      try Task.checkCancellation()
      guard let sample = try await reader.store.samples.sample(reference),
        case .workoutRoute(let route) = sample.payload
      else { continue }
      if let last, AppleTrackWriter.continues(last, sample) {
        paths[sample.reference] = paths[last.reference]
      } else {
        if isOpen { try await end(last, others, &bytes) }
        (last, isOpen) = (nil, false)
        let isInFile = route.path != nil || areOrphans
        guard isInFile, !route.points.isEmpty || AppleTrackWriter.hadFile(sample) else { continue }
        let content = Self.hash(route.points)
        isOpen = route.path.flatMap { contents[$0] } != content
        if isOpen {
          let name: String
          (name, others) = claim(route, of: sample)
          if paths[sample.reference] == nil, let path = route.path { contents[path] = content }
          try await archive.begin(name)
          tracks.begin(sample, to: &bytes)
        }
      }
      last = sample
      if areOrphans {
        summary.written += 1
        orphans += 1
      }
      guard isOpen else { continue }
      var lost = 0
      for start in stride(from: 0, to: route.points.count, by: Self.pointsAtOnce) {
        let points = route.points[start..<min(start + Self.pointsAtOnce, route.points.count)]
        lost += tracks.append(points, start: sample.start, to: &bytes)
        try await archive.append(&bytes)
      }
      if lost > 0 { summary.partial += 1 }
    }
    if isOpen { try await end(last, others, &bytes) }
  }

  private static func hash(_ content: some Hashable) -> Int {
    var hasher = Hasher()
    hasher.combine(content)
    return hasher.finalize()
  }

  private static let pointsAtOnce = 4_000

  /// Ends the file of a route, and writes its further files, which are empty because the first has all points.
  private mutating func end(_ sample: Sample?, _ others: [String], _ bytes: inout [UInt8]) async throws {
    guard let sample else { return }
    tracks.end(to: &bytes)
    try await archive.append(&bytes)
    for (index, name) in others.enumerated() {
      try await archive.begin(name)
      tracks.begin(sample, file: index + 2, to: &bytes)
      tracks.end(to: &bytes)
      try await archive.append(&bytes)
    }
  }

  /// Reserves the name of a route's file and of further files that the route names.
  private mutating func claim(_ route: WorkoutRoute, of sample: Sample) -> (String, [String]) {
    let named = (route.path ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if let name = names.claim(named[0], in: .routes) {
      return (name, named.dropFirst().compactMap { names.claim($0, in: .routes) })
    }
    let name = names.make("route_\(stem(sample))", in: .routes)
    paths[sample.reference] = "/\(name)"
    return (name, [])
  }

  /// Returns a file name such as `2019-09-24_1.07pm`, in the UTC offset of the export's dates.
  private func stem(_ sample: Sample) -> String {
    let (local, overflow) = sample.start.microseconds.addingReportingOverflow(Int64(offset) * 1_000_000)
    let clock = (overflow ? sample.start : Timestamp(microseconds: local))
    let (_, _, _, hour, minute, _, _) = clock.civil
    let day = clock.iso8601.prefix { $0 != "T" }
    return "\(day)_\((hour + 11) % 12 + 1).\(minute < 10 ? "0" : "")\(minute)\(hour < 12 ? "am" : "pm")"
  }

  // MARK: Electrocardiograms

  private mutating func writeCardiograms(of type: SampleType) async throws {
    var done = (written: 0, omitted: 0)
    let (archive, cardiograms, stage) = (archive, cardiograms, exporting.stage)
    var names = names
    try await reader.pages(of: type) { page in
      for sample in page {
        guard var bytes = cardiograms.file(sample) else {
          done.omitted += 1
          continue
        }
        try await archive.begin(names.make(cardiograms.stem(sample), in: .electrocardiograms))
        try await archive.append(&bytes)
        done.written += 1
      }
      stage.advance(items: page.count, bytes: 0)
    }
    self.names = names
    summary.written += done.written
    if done.omitted > 0 { summary.omitted[type] = done.omitted }
  }

  // MARK: Clinical records and prescriptions

  private mutating func writeDocuments(of type: SampleType) async throws {
    var copy = self
    try await reader.pages(of: type) { page in
      for sample in page {
        switch sample.payload {
        case .clinicalRecord(let record): try await copy.write(record, of: sample)
        case .visionPrescription(let prescription): try await copy.write(prescription)
        default: break
        }
      }
    }
    self = copy
  }

  private mutating func write(_ record: ClinicalRecord, of sample: Sample) async throws {
    guard let resource = record.resource else { return }
    var bytes = try ClinicalResource.file(resource)
    let content = Self.hash(bytes)
    if let path = record.path {
      if contents[path] == content { return }
      if let name = names.claim(path, in: .clinicalRecords) {
        contents[path] = content
        try await archive.begin(name)
        try await archive.append(&bytes)
        return
      }
    }
    let kind: String
    if case .object(let members) = resource, case .string(let text)? = members["resourceType"] {
      kind = text
    } else {
      kind = "Resource"
    }
    let name = names.make("\(kind)-\(sample.uuid.uuidString)", in: .clinicalRecords)
    paths[sample.reference] = "/\(name)"
    try await archive.begin(name)
    try await archive.append(&bytes)
  }

  /// Writes a prescription's attachments. The file name must contain the identifier, by which they are found.
  private mutating func write(_ prescription: VisionPrescription) async throws {
    var isPartial = false
    for attachment in prescription.attachments {
      guard let content = attachment.content else { continue }
      guard let identifier = attachment.identifier, let path = attachment.path,
        path.lowercased().contains(identifier.lowercased()), let name = names.claim(path, in: nil)
      else {
        isPartial = true
        continue
      }
      var bytes = Array(content)
      try await archive.begin(name)
      try await archive.append(&bytes)
    }
    if isPartial { summary.partial += 1 }
  }
}
