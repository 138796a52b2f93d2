//! One model of the study of numerical torture: `torture SEED NUMBER`.

fn main() -> anyhow::Result<()> {
    let args: Vec<u64> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let [seed, number] = args.as_slice() else { anyhow::bail!("usage: torture SEED NUMBER") };
    println!("{}", gpfuse_trust::torture(*seed, *number));
    Ok(())
}
