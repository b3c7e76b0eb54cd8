import Foundation
import HealthModel

/// A builder of the sample columns of a batch. It grows arrays of its own because changing a field of a message
/// copies the whole field.
struct SampleColumnWriter {
  private let tick: Int64
  private var previous: Int64 = 0
  private var uuid: [UInt8] = []
  private var type: [UInt32] = []
  private var kind: [UInt32] = []
  private var source: [UInt32] = []
  private var device: [UInt32] = []
  private var metadata: [UInt32] = []
  private var start: [Int64] = []
  private var duration: [Int64] = []
  private var created: [Int64] = []
  private var form: [UInt8] = []
  private var decimal: [Int64] = []
  private var binary: [Double] = []
  private var unit: [UInt32] = []
  private var json: [String] = []
  private var road: [UInt8] = []
  private var statements = StatementColumns()

  init(tick: Int64, reserving count: Int) {
    self.tick = tick
    uuid.reserveCapacity(count * 16)
    type.reserveCapacity(count)
    kind.reserveCapacity(count)
    source.reserveCapacity(count)
    device.reserveCapacity(count)
    metadata.reserveCapacity(count)
    start.reserveCapacity(count)
    duration.reserveCapacity(count)
    created.reserveCapacity(count)
    form.reserveCapacity(count)
    decimal.reserveCapacity(count)
    unit.reserveCapacity(count)
    road.reserveCapacity(count)
  }

  mutating func add(_ sample: CodedSample, of changes: CodedChanges) {
    withUnsafeBytes(of: sample.uuid.uuid) { uuid.append(contentsOf: $0) }
    statements.add(sample.statement.map { changes.statements[Int($0)] }, at: type.count)
    type.append(sample.type)
    road.append(sample.road.rawValue)
    kind.append(sample.kind)
    source.append(sample.source)
    device.append(sample.device.map { $0 + 1 } ?? 0)
    metadata.append(sample.metadata.map { $0 + 1 } ?? 0)
    let ticks = sample.start.microseconds / tick
    start.append(ticks &- previous)
    previous = ticks
    duration.append((sample.end.microseconds &- sample.start.microseconds) / tick)
    unit.append(sample.unit.map { $0 + 1 } ?? 0)
    var form = form(number: sample.number, payload: sample.payload, of: changes)
    if let instant = sample.created {
      created.append((instant.microseconds &- sample.start.microseconds) / tick)
      form |= SampleForm.created
    }
    self.form.append(form)
  }

  private mutating func form(number: Double?, payload: UInt32?, of changes: CodedChanges) -> UInt8 {
    if let payload {
      json.append(changes.payloads[Int(payload)])
      return SampleForm.json
    }
    guard let number else { return SampleForm.none }
    guard let decimal = DecimalNumber(number) else {
      binary.append(number)
      return SampleForm.binary
    }
    self.decimal.append(decimal.digits)
    return decimal.power
  }

  consuming func move(into message: inout Hpeer_V2_SampleColumns) {
    message.uuid = Data(uuid)
    message.type = type
    message.kind = kind
    message.source = source
    message.device = device
    message.metadataSet = metadata
    message.start = start
    message.duration = duration
    message.created = created
    message.form = Data(form)
    message.decimal = decimal
    message.binary = binary
    message.unit = unit
    message.json = json
    message.road = Data(road)
    message.stated = statements.stated
    message.statements = Data(statements.bytes)
  }
}
